package io.varve.experiments.run.load;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.plan.Filters;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RequestSet;
import io.varve.experiments.run.speed.CacheMisses;
import io.varve.experiments.wire.RespErrorException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests encoded requests, fragmented replies, and the parsing of perf's output. Confined to the test's thread. */
final class WaitingClientTest {
    private static final int MAX_BYTES = 20_000;
    private static final long SEED = 7;

    private ServerSocketChannel listening;
    private SocketChannel server;
    private WaitingClient client;

    @BeforeEach
    @SuppressWarnings("resource") // closed after each test
    void connect() throws IOException {
        listening = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        client = new WaitingClient(SocketChannel.open(listening.getLocalAddress()), MAX_BYTES);
        server = listening.accept();
    }

    @AfterEach
    void close() throws IOException {
        client.close();
        server.close();
        listening.close();
    }

    private void reply(String text) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
        while (bytes.hasRemaining()) {
            server.write(bytes);
        }
    }

    private void sendAny() throws IOException {
        client.request().put((byte) 'x');
        client.send(1);
    }

    @Test
    void aReplyMayComeInAnyPieces() throws IOException {
        String whole = "$12\r\nab\r\ncd$5\r\n+x\r\n";
        for (int cut = 1; cut < whole.length(); cut++) {
            sendAny();
            reply(whole.substring(0, cut));
            assertThat(client.receive()).as("after %d bytes", cut).isFalse();
            reply(whole.substring(cut));
            assertThat(client.receive()).isTrue();
            assertThat(client.missed()).isFalse();
        }
    }

    @Test
    void missesValuesAndStatusesAreDistinguished() throws IOException {
        for (Map.Entry<String, Boolean> each : Map.of("$-1\r\n", true, "+OK\r\n", false, "$0\r\n\r\n", false)
                .entrySet()) {
            sendAny();
            reply(each.getKey());
            assertThat(client.receive()).isTrue();
            assertThat(client.missed()).as(each.getKey().strip()).isEqualTo(each.getValue());
        }
        sendAny();
        reply("$10240\r\n" + "v".repeat(10_240) + "\r\n");
        boolean whole = client.receive();
        while (!whole) {
            whole = client.receive();
        }
        assertThat(client.missed()).isFalse();
    }

    @Test
    void theRepliesOfAPipelineMayComeInAnyPieces() throws IOException {
        String whole = "$3\r\nabc\r\n$-1\r\n+OK\r\n$0\r\n\r\n$-1\r\n";
        for (int cut = 1; cut < whole.length(); cut++) {
            client.request().put((byte) 'x');
            client.send(5);
            reply(whole.substring(0, cut));
            assertThat(client.receive()).as("after %d bytes", cut).isFalse();
            reply(whole.substring(cut));
            assertThat(client.receive()).isTrue();
            assertThat(client.misses()).isEqualTo(2);
        }
        client.request().put((byte) 'x');
        client.send(2);
        reply("+OK\r\n-ERR second\r\n");
        assertThatThrownBy(client::receive).isInstanceOf(RespErrorException.class).hasMessage("-ERR second");
    }

    @Test
    void invalidReplyIsAFault() throws IOException {
        sendAny();
        reply("-OOM command not allowed\r\n");
        assertThatThrownBy(client::receive).isInstanceOf(RespErrorException.class).hasMessageContaining("OOM");
        sendAny();
        reply("+OK\r\n+OK\r\n");
        assertThatThrownBy(client::receive).hasMessageContaining("more replies than requests");
        sendAny();
        reply("*1\r\n");
        assertThatThrownBy(client::receive).hasMessageContaining("not a reply");
        sendAny();
        server.close();
        assertThatThrownBy(client::receive).isInstanceOf(IOException.class)
                .hasMessageMatching("(?i).*(closed the connection|connection reset).*");
    }

    private static RequestSet tiny() throws IOException {
        Plan plan = Plan.of(new ExperimentFiles(java.nio.file.Path.of("..", "workloads", "experiments"))
                .read("redis-plus-plus"), "quick", Filters.NONE);
        return plan.requests(plan.runs().getFirst());
    }

    @Test
    void requestsHaveTheirStatedLengths() throws IOException {
        RequestSet set = tiny();
        RequestEncoder encoder = new RequestEncoder(set, SEED);
        byte[] key = new byte[8];
        set.putKey(SEED, 3, key);
        String name = new String(key, StandardCharsets.US_ASCII);
        ByteBuffer bytes = ByteBuffer.allocate(encoder.maxBytes());
        encoder.get(bytes, 3);
        assertThat(text(bytes)).isEqualTo("*2\r\n$3\r\nGET\r\n$8\r\n" + name + "\r\n");

        Map<Integer, String> byLength = new HashMap<>();
        for (long draw = 0; draw < 5000; draw++) {
            bytes.clear();
            encoder.set(bytes, 3, draw * 0x9e3779b97f4a7c15L);
            int valueBytes = set.valueBytes(SEED, draw * 0x9e3779b97f4a7c15L);
            String head = "*3\r\n$3\r\nSET\r\n$8\r\n" + name + "\r\n$" + valueBytes + "\r\n";
            String text = text(bytes);
            assertThat(text).startsWith(head).endsWith("\r\n").hasSize(head.length() + valueBytes + 2);
            String value = text.substring(head.length(), text.length() - 2);
            assertThat(value).matches("[A-Za-z0-9_-]+");
            assertThat(byLength.put(valueBytes, value)).as("other bytes each time").isNotEqualTo(value);
        }
        assertThat(byLength.keySet()).anyMatch(length -> length > 9000).contains(8, 16);
    }

    private static String text(ByteBuffer bytes) {
        return StandardCharsets.US_ASCII.decode(bytes.duplicate().flip()).toString();
    }

    @Test
    void perfReportsWhetherItCounts() {
        assertThat(CacheMisses.reason("12345,,cache-misses,2000123,100.00,,\n")).isNull();
        assertThat(CacheMisses.reason("<not supported>,,cache-misses,0,100.00,,\n"))
                .isEqualTo("perf stat printed <not supported>");
        assertThat(CacheMisses.reason("")).isEqualTo("perf stat printed nothing");
    }

    @Test
    void missesAreSummedUpByFunction() {
        Map<String, Double> functions = CacheMisses.functions("""
                # a comment
                    22.50%  [.] siphash            -      -
                    18.90%  [k] copy_user_generic
                     5.00%  [.] 0x0000000000004148     -      -
                     1.50%  [.] 0x0000000000004150     -      -
                """);
        assertThat(functions.keySet()).containsExactlyElementsOf(
                List.of("siphash", "copy_user_generic", "unknown function", "other"));
        assertThat(functions).containsEntry("siphash", 22.5).containsEntry("unknown function", 6.5);
        assertThat(functions.get("other")).isEqualTo(52.1, org.assertj.core.data.Offset.offset(1e-9));
        assertThat(CacheMisses.functions("")).isEmpty();
    }
}
