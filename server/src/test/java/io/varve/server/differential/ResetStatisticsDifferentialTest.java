package io.varve.server.differential;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares the command statistics after CONFIG RESETSTAT, which itself counts first, with a real Redis; and the reply
 * of LATENCY RESET. Confined to the test's thread.
 */
class ResetStatisticsDifferentialTest {
    @RegisterExtension
    static final ServerExtension varve = ServerExtension.withReference("maxmemory 64mb", "enable-debug-command local");

    /** Commands in front of a bar are sent together. */
    @ParameterizedTest
    @ValueSource(strings = {"CONFIG RESETSTAT", "PING|CONFIG RESETSTAT|PING", "PING;CONFIG RESETSTAT;PING;SET k v",
            "GET k;GET k;CONFIG RESETSTAT;GET k;GET k", "SET k v|MULTI;PING;CONFIG RESETSTAT;GET k;EXEC",
            "MULTI;CONFIG RESETSTAT;EXEC;PING", "PING;MULTI;SET k v;CONFIG RESETSTAT;CONFIG RESETSTAT;EXEC|PING",
            "CONFIG RESETSTAT;CONFIG RESETSTAT", "CONFIG RESETSTAT;GET;NOSUCH;HGET k f"})
    void commandsAfterResetstat_andItself_areCounted(String commands) throws IOException {
        List<Map<String, String>> counts = new ArrayList<>();
        for (int port : new int[] {varve.reference().port(), varve.port()}) {
            try (RawClient client = new RawClient(port)) {
                client.call("SET", "k", "v");
                for (String together : commands.split("\\|")) {
                    String[] each = together.split(";");
                    for (String command : each) {
                        client.queue(command.split(" "));
                    }
                    client.flush();
                    for (int i = 0; i < each.length; i++) {
                        client.read();
                    }
                }
                Map<String, String> counted = new TreeMap<>();
                counted.put("total", client.info("total_commands_processed"));
                calls(client, counted);
                histograms(client, counted);
                counts.add(counted);
            }
        }
        assertThat(counts.get(1)).as(commands).isEqualTo(counts.get(0));
    }

    private static void calls(RawClient client, Map<String, String> counted) throws IOException {
        for (String line : client.call("INFO", "commandstats").text().split("\r\n")) {
            if (line.startsWith("cmdstat_")) {
                counted.put(line.substring(0, line.indexOf(':')), line.replaceAll(",usec.*,rej", ",rej"));
            }
        }
    }

    private static void histograms(RawClient client, Map<String, String> counted) throws IOException {
        List<RawReply> histograms = client.call("LATENCY", "HISTOGRAM").elements();
        for (int i = 0; i < histograms.size(); i += 2) {
            counted.put(histograms.get(i).text(), histograms.get(i + 1).elements().get(1).text());
        }
    }

    @Test
    void latencyReset_afterEvents_answersHowManySeriesItForgot() throws IOException {
        try (RawClient client = new RawClient(varve.port())) {
            assertThat(client.call("LATENCY", "RESET").integer()).isZero();
            assertThat(client.call("CONFIG", "SET", "latency-monitor-threshold", "200").text()).isEqualTo("OK");
            client.call("DEBUG", "SLEEP", "0.3");
            assertThat(client.call("LATENCY", "LATEST").elements()).hasSize(1);
            assertThat(client.call("LATENCY", "RESET", "nosuch").integer()).isZero();
            assertThat(client.call("LATENCY", "RESET").integer()).isEqualTo(1);
            assertThat(client.call("LATENCY", "LATEST").elements()).isEmpty();
            client.call("DEBUG", "SLEEP", "0.3");
            assertThat(client.call("LATENCY", "RESET", "command", "nosuch", "command").integer()).isEqualTo(1);
            assertThat(client.call("LATENCY", "RESET").integer()).isZero();
            client.call("CONFIG", "SET", "latency-monitor-threshold", "0");
        }
    }
}
