import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import software.amazon.event.ruler.Machine;

/**
 * Event Ruler on patterns and events from two files of lines: {"id": ..., "pattern": ...}, and events.
 *
 * Says in JSON how long it took to load; then, for each line of its input, "round": the seconds of
 * processor time that all events take, one by one; or "pairs": the ids that match each event.
 */
public final class Rival {
  public static void main(String[] files) throws Exception {
    ObjectMapper json = new ObjectMapper();
    List<String> patterns = Files.readAllLines(Path.of(files[0]), StandardCharsets.UTF_8);
    List<String> events = Files.readAllLines(Path.of(files[1]), StandardCharsets.UTF_8);
    Machine machine = Machine.builder().build();
    long begin = cpu();
    for (String line : patterns) {
      JsonNode node = json.readTree(line);
      machine.addRule(node.get("id").asText(), node.get("pattern").asText());
    }
    System.out.println("{\"loaded_s\": " + (cpu() - begin) / 1e9 + "}");
    BufferedReader input =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String question = input.readLine(); question != null; question = input.readLine()) {
      begin = cpu();
      List<List<String>> found = new ArrayList<>();
      for (String event : events) {
        found.add(machine.rulesForJSONEvent(event));
      }
      double seconds = (cpu() - begin) / 1e9;
      System.out.println(question.equals("round") ? seconds : json.writeValueAsString(found));
    }
  }

  private static long cpu() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }
}
