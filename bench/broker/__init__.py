"""The broker beside JetStream, NATS, Mosquitto and Redis: ``python -m bench broker``.

One process of each, on loopback, loaded by this one. The others are given a topic per group of
subscribers: they look a name up where Predicast evaluates what every subscription states. All but
JetStream keep nothing, and that has events in files but not on the disk, where Predicast has them
before their receipts. That is their bias to win by. Predicast's is that a batch of events is one
frame here, of deliveries too; the others' clients write as many messages at once into the socket.
A relay that does nothing shows what the load generator itself is capable of.
"""
