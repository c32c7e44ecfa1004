package io.varve.server.differential.stored;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;

import io.varve.server.VarveServer;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ReferenceRedis;
import io.varve.server.testing.ServerExtension;
import io.varve.testing.Polling;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Libraries of functions that move between Varve and a real Redis: by FUNCTION DUMP, snapshots, logs and replication.
 * Confined to the test's thread. {@code CommandsDifferentialTest} compares the commands.
 */
@Timeout(300)
class FunctionsDifferentialTest {
    @RegisterExtension
    final ServerExtension varve = ServerExtension.with("maxmemory 64mb", "enable-debug-command yes",
            "enable-protected-configs yes");

    private static final String FIRST = "#!lua name=first\nlocal calls = 0\nlocal function get(keys, args)\n"
            + "  calls = calls + 1\n  return redis.call('get', keys[1])\nend\n"
            + "redis.register_function{function_name='get_it', callback=get, flags={'no-writes', 'allow-stale'},"
            + " description='Gets it'}\n"
            + "redis.register_function('calls', function() return calls end)";
    private static final String SECOND = "#!LUA name=second\nredis.register_function('set_it', function(keys, args)\n"
            + "  return redis.call('set', keys[1], args[1])\nend) -- " + "x".repeat(100_000);

    private static ReferenceRedis startRedis(String... options) throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(List.of("--enable-debug-command", "yes"));
        all.addAll(List.of(options));
        return ReferenceRedis.startWith(all.toArray(String[]::new));
    }

    private static void load(RawClient client) throws IOException {
        assertThat(client.call("FUNCTION", "LOAD", FIRST).text()).isEqualTo("first");
        assertThat(client.call("FUNCTION", "LOAD", "REPLACE", SECOND).text()).isEqualTo("second");
        assertThat(client.command("SET", "key", "value")).isEqualTo("+OK\r\n");
    }

    /** Each library as FUNCTION LIST describes it: Redis lists libraries and functions in an order of its own. */
    private static List<List<String>> libraries(RawClient client) throws IOException {
        List<List<String>> all = new ArrayList<>();
        for (RawReply library : client.call("FUNCTION", "LIST", "WITHCODE").elements()) {
            List<String> parts = new ArrayList<>(library.elements().stream().filter(part -> !part.isAggregate())
                    .map(RawReply::toString).toList());
            parts.addAll(library.elements().get(5).elements().stream().map(RawReply::toString).sorted().toList());
            all.add(parts);
        }
        all.sort((one, other) -> one.toString().compareTo(other.toString()));
        return all;
    }

    private static void assertLoaded(RawClient client, String how) throws IOException {
        List<List<String>> loaded = libraries(client);
        assertThat(loaded).as(how).hasSize(2);
        assertThat(loaded.toString()).as(how).contains("Gets it", "no-writes", "allow-stale", "set_it", "calls");
        assertThat(client.command("FCALL_RO", "GET_IT", "1", "key")).as(how).isEqualTo("$5\r\nvalue\r\n");
    }

    @Test
    void dumps_moveBetweenVarveAndRedis() throws IOException, InterruptedException {
        try (ReferenceRedis reference = startRedis();
                RawClient redis = new RawClient(reference.port());
                RawClient ours = varve.connect()) {
            load(redis);
            RawReply theirs = redis.call("FUNCTION", "DUMP");
            restore(ours, theirs);
            ours.command("SET", "key", "value");
            assertLoaded(ours, "Varve restored Redis's");
            assertThat(libraries(ours)).isEqualTo(libraries(redis));
            redis.call("FUNCTION", "FLUSH");
            restore(redis, ours.call("FUNCTION", "DUMP"));
            assertLoaded(redis, "Redis restored Varve's");
            assertThat(libraries(redis)).isEqualTo(libraries(ours));
        }
    }

    private static void restore(RawClient client, RawReply payload) throws IOException {
        client.write(List.of(bytes("FUNCTION"), bytes("RESTORE"), bytes(payload.text()), bytes("FLUSH")));
        client.flush();
        assertThat(client.read().text()).isEqualTo("OK");
    }

    private static byte[] bytes(String latin1) {
        return latin1.getBytes(StandardCharsets.ISO_8859_1);
    }

    @Test
    void snapshots_moveBetweenVarveAndRedis(@TempDir Path directory) throws IOException, InterruptedException {
        try (ReferenceRedis reference = startRedis();
                RawClient redis = new RawClient(reference.port());
                RawClient ours = varve.connect()) {
            Path theirs = Path.of(value(redis, "dir"), value(redis, "dbfilename"));
            Path mine = directory.resolve("dump.rdb");
            assertThat(ours.command("CONFIG", "SET", "dir", directory.toString())).isEqualTo("+OK\r\n");
            load(redis);
            assertThat(redis.command("SAVE")).isEqualTo("+OK\r\n");
            Files.copy(theirs, mine, StandardCopyOption.REPLACE_EXISTING);
            assertThat(ours.command("DEBUG", "RELOAD", "NOSAVE")).isEqualTo("+OK\r\n");
            assertLoaded(ours, "Varve loaded Redis's");
            assertThat(libraries(ours)).isEqualTo(libraries(redis));
            assertThat(ours.command("SAVE")).isEqualTo("+OK\r\n");
            redis.call("FUNCTION", "FLUSH");
            Files.copy(mine, theirs, StandardCopyOption.REPLACE_EXISTING);
            assertThat(redis.command("DEBUG", "RELOAD", "NOSAVE")).isEqualTo("+OK\r\n");
            assertLoaded(redis, "Redis loaded Varve's");
            assertThat(libraries(redis)).isEqualTo(libraries(ours));
        }
    }

    @Test
    void reloads_keepOrReplaceLibraries(@TempDir Path directory) throws IOException, InterruptedException {
        try (ReferenceRedis reference = startRedis();
                RawClient redis = new RawClient(reference.port());
                RawClient ours = varve.connect()) {
            for (RawClient client : List.of(redis, ours)) {
                load(client);
                client.command("DEL", "key");
                client.command("CONFIG", "SET", "dir", directory.toString());
                assertThat(client.command("DEBUG", "RELOAD", "NOFLUSH"))
                        .startsWith("-ERR Error trying to load the RDB dump");
                assertThat(libraries(client)).hasSize(2);
                assertThat(client.command("DEBUG", "RELOAD", "NOFLUSH", "MERGE")).isEqualTo("+OK\r\n");
                assertThat(libraries(client)).hasSize(2);
                client.call("FUNCTION", "DELETE", "first");
                client.call("FUNCTION", "LOAD", "#!lua name=third\nredis.register_function('f', function() end)");
                assertThat(client.command("DEBUG", "RELOAD", "NOSAVE", "NOFLUSH", "MERGE")).isEqualTo("+OK\r\n");
                assertThat(libraries(client)).hasSize(3);
                assertThat(client.command("DEBUG", "RELOAD", "NOSAVE")).isEqualTo("+OK\r\n");
                assertThat(libraries(client)).hasSize(2);
            }
        }
    }

    private static String value(RawClient client, String setting) throws IOException {
        return client.call("CONFIG", "GET", setting).elements().get(1).text();
    }

    @Test
    void logs_moveBetweenVarveAndRedis(@TempDir Path directory) throws IOException, InterruptedException {
        List<List<String>> expected;
        try (VarveServer server = varve.start("maxmemory 64mb", "appendonly yes", "dir " + directory);
                RawClient ours = varve.connect(server)) {
            load(ours);
            assertThat(ours.call("FUNCTION", "LOAD", "#!lua name=third\nredis.register_function('f', function() end)")
                    .text()).isEqualTo("third");
            assertThat(ours.command("FUNCTION", "DELETE", "third")).isEqualTo("+OK\r\n");
            expected = libraries(ours);
        }
        try (ReferenceRedis reference = startRedis("--appendonly", "yes", "--dir", directory.toString());
                RawClient redis = new RawClient(reference.port())) {
            assertLoaded(redis, "Redis loaded Varve's log");
            assertThat(libraries(redis)).isEqualTo(expected);
            assertThat(redis.call("FUNCTION", "FLUSH").text()).isEqualTo("OK");
            load(redis);
            redis.queue("SHUTDOWN");
            redis.flush();
            redis.readToEnd();
        }
        try (VarveServer server = varve.start("maxmemory 64mb", "appendonly yes", "dir " + directory);
                RawClient ours = varve.connect(server)) {
            assertLoaded(ours, "Varve loaded Redis's log");
            assertThat(libraries(ours)).isEqualTo(expected);
        }
    }

    @Test
    void replicas_haveThePrimarysLibraries() throws IOException, InterruptedException {
        try (ReferenceRedis reference = startRedis();
                RawClient redis = new RawClient(reference.port());
                RawClient ours = varve.connect()) {
            load(redis);
            ours.call("FUNCTION", "LOAD", "#!lua name=own\nredis.register_function('own', function() end)");
            follow(ours, reference.port());
            assertLoaded(ours, "Varve follows Redis");
            assertThat(libraries(ours)).isEqualTo(libraries(redis));
            assertThat(ours.command("FCALL", "set_it", "1", "key", "x")).startsWith("-READONLY");
            assertThat(ours.command("FUNCTION", "FLUSH")).startsWith("-READONLY");
            assertThat(redis.call("FUNCTION", "DELETE", "first").text()).isEqualTo("OK");
            assertThat(redis.call("FCALL", "set_it", "1", "key", "other").text()).isEqualTo("OK");
            await(redis);
            assertThat(libraries(ours)).isEqualTo(libraries(redis));
            assertThat(ours.call("GET", "key").text()).isEqualTo("other");

            assertThat(ours.command("REPLICAOF", "NO", "ONE")).isEqualTo("+OK\r\n");
            redis.call("FUNCTION", "FLUSH");
            follow(redis, varve.port());
            assertThat(libraries(redis)).as("Redis follows Varve").isEqualTo(libraries(ours));
            assertThat(ours.call("FUNCTION", "LOAD", FIRST).text()).isEqualTo("first");
            assertThat(ours.call("FCALL", "set_it", "1", "key", "value").text()).isEqualTo("OK");
            await(ours);
            assertLoaded(redis, "Redis follows Varve");
            assertThat(ours.command("FUNCTION", "FLUSH")).isEqualTo("+OK\r\n");
            await(ours);
            assertThat(libraries(redis)).isEmpty();
        }
    }

    private static void await(RawClient primary) throws IOException {
        assertThat(primary.command("WAIT", "1", "0")).isEqualTo(":1\r\n");
    }

    private static void follow(RawClient replica, int port) throws IOException {
        assertThat(replica.command("REPLICAOF", "127.0.0.1", Integer.toString(port))).isEqualTo("+OK\r\n");
        while (!replica.info("master_link_status").equals("up") || replica.infoLong("loading") == 1) {
            Polling.pause();
        }
    }
}
