package io.varve.server.command.dump;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.varve.server.command.CommandHarness;
import io.varve.server.config.ServerConfig;
import io.varve.server.fuzz.FuzzCase;
import io.varve.server.fuzz.FuzzRun;
import io.varve.server.rdb.Payloads;
import io.varve.server.testing.LeakWatch;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import static io.varve.server.rdb.Payloads.length;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Restores any bytes as a stream: it is refused, or is a stream that all commands agree on, that can be changed, dumped
 * and restored, and that leaves no memory in use. Confined to the test's thread.
 *
 * <p>The lowest two bits of the first byte choose the type of the payload, the next two whether entries and groups are
 * changed. The other bytes are the payload between the type and the checksum.
 */
public class StreamPayloadFuzzTest {
    private static final int[] TYPES = {15, 19, 21, 21};
    private static final int CHANGES_ENTRIES = 4;
    private static final int CHANGES_GROUPS = 8;
    private static final int VERSION = 11;

    private static LeakWatch log;
    private static CommandHarness server;
    private static StreamWalk walk;

    @BeforeAll
    public static void fuzzerInitialize() {
        log = new LeakWatch();
        server = server();
        walk = new StreamWalk(server);
    }

    @AfterAll
    public static void fuzzerTearDown() {
        server.close();
        log.close();
    }

    /** Its streams have several blocks soon, and payloads are not packed. */
    private static CommandHarness server() {
        return new CommandHarness(ServerConfig.defaults().with("maxmemory", "32mb").with("shards", "2")
                .with("stream-node-max-entries", "3").with("rdbcompression", "no"));
    }

    @Test
    void anyPayloadIsAStreamOrIsRefused() {
        new FuzzRun(fuzzCase()).runFewer();
    }

    /** The target, for whatever drives it. */
    public static FuzzCase fuzzCase() {
        List<String> seeds = new ArrayList<>(List.of("L" + Payloads.stream(15), "M" + Payloads.stream(19),
                "N" + Payloads.stream(21), "L\0\0\0\0\0", "N" + length(0).repeat(9) + "\0"));
        try (CommandHarness source = server()) {
            for (List<String> commands : StreamSeeds.streams(source.now())) {
                commands.forEach(command -> assertThat(source.run(command)).as(command).doesNotStartWith("-"));
                String dumped = StreamWalk.text(source.run("DUMP", "s"));
                seeds.add((dumped.charAt(0) == 19 ? "M" : "N") + dumped.substring(1, dumped.length() - 10));
                source.run("DEL", "s");
            }
        }
        return new FuzzCase(StreamPayloadFuzzTest.class, StreamPayloadFuzzTest::fuzzerTestOneInput, seeds,
                StreamSeeds.words());
    }

    public static void fuzzerTestOneInput(byte[] input) {
        if (input.length == 0) {
            return;
        }
        String value = (char) TYPES[input[0] & 3] + new String(input, 1, input.length - 1, StandardCharsets.ISO_8859_1);
        try {
            restore(value, (input[0] & CHANGES_ENTRIES) != 0, (input[0] & CHANGES_GROUPS) != 0);
            walk.assertNothingIsLeft();
            assertThat(log.logged()).as("logged errors").isEmpty();
        } catch (RuntimeException | Error failed) {
            replace(failed);
            throw failed;
        }
    }

    /** The server may hold locks or keys: the next input gets another one. */
    private static void replace(Throwable failed) {
        try {
            server.close();
        } catch (RuntimeException | Error alsoFailed) {
            failed.addSuppressed(alsoFailed);
        }
        log.close();
        fuzzerInitialize();
    }

    private static void restore(String value, boolean changesEntries, boolean changesGroups) {
        String reply = server.run("RESTORE", "s", "0", Payloads.withFooter(value, VERSION));
        if (!reply.equals("+OK\r\n")) {
            assertThat(reply).isEqualTo("-ERR Bad data format\r\n");
            return;
        }
        walk.check();
        walk.checkCopies();
        if (changesEntries) {
            walk.changeEntries();
            walk.check();
        }
        if (changesGroups) {
            walk.changeGroups();
            walk.check();
        }
        walk.checkCopies();
    }
}
