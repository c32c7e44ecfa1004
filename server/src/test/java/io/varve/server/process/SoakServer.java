package io.varve.server.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.varve.memory.Cache;
import io.varve.memory.report.CacheStats;
import io.varve.server.VarveServer;
import io.varve.server.config.ConfigReader;
import io.varve.server.testing.LeakWatch;
import io.varve.server.testing.RawClient;
import org.awaitility.core.ConditionTimeoutException;

import static org.awaitility.Awaitility.await;

/**
 * The server of {@link SoakIT}, in its own process with the launcher's options. Confined to its main thread. When its
 * standard input ends and its clients have disconnected, it checks for leftovers, reports them on standard error, and
 * exits with status 0 if there are none.
 */
final class SoakServer {
    private static final String MAIN = "io.varve.server.Main";
    private static final int SOMETHING_FOUND = 3;
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    /** Memory that Netty's pools keep of their chunks when no buffer is in use. */
    private static final long POOLS_KEEP_BYTES = 16L << 20;

    private final Cache cache;
    private final List<String> findings = new ArrayList<>();

    private SoakServer(Cache cache) {
        this.cache = cache;
    }

    /**
     * From how the launcher starts a server to how this is started: with assertions, every buffer watched for leaks,
     * and the whole heap resident from the start, so that what resident memory shows is what grows beside it.
     */
    static List<String> commandLine(List<String> launcher) {
        List<String> command = new ArrayList<>(launcher);
        command.replaceAll(word -> word.equals(MAIN) ? SoakServer.class.getName() : word);
        command.replaceAll(word -> word.equals("-Xms8m") ? "-Xms96m" : word);
        command.addAll(command.indexOf("-cp"),
                List.of("-ea", "-XX:+AlwaysPreTouch", "-Dio.netty.leakDetection.level=paranoid"));
        return command;
    }

    public static void main(String[] arguments) throws IOException {
        var config = ConfigReader.read(List.of(arguments));
        SoakServer soak = new SoakServer(Cache.open(config.cacheConfig()));
        try (LeakWatch watch = new LeakWatch()) {
            VarveServer server = VarveServer.start(config, soak.cache);
            try (server) {
                System.out.println("port " + server.port() + "\nReady to accept connections");
                System.out.flush();
                while (System.in.read() >= 0) {
                    // The report's content does not matter; its repetition does.
                }
                soak.checkState(server);
            }
            soak.lookAtWhatIsLeft(server.pooledBytes());
            soak.findings.addAll(watch.errors());
        }
        soak.findings.forEach(System.err::println);
        System.exit(soak.findings.isEmpty() ? 0 : SOMETHING_FOUND);
    }

    /** All is closed: what was charged was released, and Netty's pools have their chunks back. */
    private void lookAtWhatIsLeft(long direct) {
        long charged = cache.stats().chargedBytes();
        expect(charged == 0, "still charged when all is closed, bytes: " + charged);
        System.err.println("direct buffers in the end: " + direct + " bytes");
        expect(direct <= POOLS_KEEP_BYTES, "direct buffers when all is closed, bytes: " + direct);
    }

    private void expect(boolean holds, String otherwise) {
        if (!holds) {
            findings.add(otherwise);
        }
    }

    private void checkState(VarveServer server) throws IOException {
        try (RawClient client = new RawClient(server.port())) {
            awaitOrFail("clients have not gone", () -> client.infoLong("connected_clients") == 1);
            awaitOrFail("somebody waits", () -> client.infoLong("blocked_clients") == 0);
            awaitOrFail("somebody listens", () -> client.infoLong("pubsub_channels") == 0);
            awaitOrFail("messages are kept", () -> client.infoLong("undelivered_message_bytes") == 0);
            findings.addAll(cache.checkIntegrity());
            client.call("FLUSHALL");
            awaitOrFail("something is left of a flushed cache", () -> {
                // Empty heads are kept for a minute otherwise.
                client.call("MEMORY", "PURGE");
                CacheStats stats = cache.stats();
                // A shard keeps a head open, in which there is nothing.
                return stats.items() == 0 && stats.liveBytes() == 0 && stats.deadBytes() == 0
                        && stats.segmentsInUse() <= cache.shardCount();
            });
            findings.addAll(cache.checkIntegrity());
        }
    }

    /** A condition that may throw because a socket does. */
    @FunctionalInterface
    private interface Condition {
        boolean isSo() throws IOException;
    }

    private void awaitOrFail(String otherwise, Condition look) {
        try {
            await().atMost(PATIENCE).until(() -> {
                try {
                    return look.isSo();
                } catch (IOException broken) {
                    throw new UncheckedIOException(broken);
                }
            });
        } catch (ConditionTimeoutException _) {
            findings.add(otherwise + ": " + cache.stats());
        }
    }
}
