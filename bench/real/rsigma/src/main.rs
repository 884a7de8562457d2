//! Loads Sigma rules and events, and says on request how long they take and what fires.
//!
//! Arguments: a file of rules (YAML or JSON documents, `---` between them) and one of events (a JSON
//! object per line). After a line about what was loaded it answers each line of standard input with
//! one: `round` with the seconds of processor time that all events took, one after the other on
//! this one thread, and `pairs` with the ids of the rules that each event fires.

use std::hint::black_box;
use std::io::{BufRead, Write, stdin, stdout};
use std::time::Instant;

use rsigma_eval::{Engine, JsonEvent};
use rsigma_parser::parse_sigma_yaml;
use serde_json::{Value, json};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut text = |what: &str| {
        let path = arguments.next().unwrap_or_else(|| panic!("no file of {what}"));
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    };
    let rules = text("rules");
    let events: Vec<Value> = text("events")
        .lines()
        .map(|line| serde_json::from_str(line).expect("an event is a JSON object"))
        .collect();

    let start = processor_s();
    let collection = parse_sigma_yaml(&rules).expect("rules that can be read");
    let mut engine = Engine::new();
    let refused: Vec<Value> = engine
        .add_rules(&collection.rules)
        .iter()
        .map(|(place, error)| json!([collection.rules[*place].id, error.to_string()]))
        .collect();
    let loaded_s = processor_s() - start;
    let loaded = json!({
        "rules": engine.rule_count(), "refused": refused, "unread": collection.errors,
        "loaded_s": loaded_s,
    });
    say(&loaded);

    for line in stdin().lock().lines() {
        match line.expect("a line").as_str() {
            "round" => say(&json!(seconds(&engine, &events))),
            "pairs" => say(&json!(fired(&engine, &events))),
            other => panic!("round or pairs, not {other:?}"),
        }
    }
}

fn seconds(engine: &Engine, events: &[Value]) -> f64 {
    let start = processor_s();
    for event in events {
        black_box(engine.evaluate(&JsonEvent::borrow(event)));
    }
    processor_s() - start
}

/// What this thread has spent on a processor, as Linux counts it; elsewhere the time on the clock.
fn processor_s() -> f64 {
    static BEGIN: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    let spent = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = spent.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| BEGIN.elapsed().as_secs_f64(), |spent| spent / 1e9)
}

fn fired(engine: &Engine, events: &[Value]) -> Vec<Vec<String>> {
    let ids = |event| {
        let results = engine.evaluate(&JsonEvent::borrow(event));
        results.into_iter().filter_map(|result| result.header.rule_id).collect()
    };
    events.iter().map(ids).collect()
}

fn say(answer: &Value) {
    println!("{answer}");
    stdout().flush().expect("a reader");
}
