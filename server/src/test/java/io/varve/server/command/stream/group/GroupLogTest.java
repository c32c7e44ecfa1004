package io.varve.server.command.stream.group;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;

import io.varve.server.ServerOnDisk;
import io.varve.server.persistence.ControlledDisk;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.SettableTicker;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests how changes of groups are recorded, and that a server reads them again. Confined to the test's thread. */
@Timeout(60)
class GroupLogTest {
    private static final int COMMANDS = 400;

    @TempDir
    Path directory;
    private final SettableTicker clock = new SettableTicker();

    private ServerOnDisk start() throws IOException {
        return ServerOnDisk.start(directory, new ControlledDisk(), clock);
    }

    private String log() throws IOException {
        StringBuilder text = new StringBuilder();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
                text.append(Files.readString(file, StandardCharsets.ISO_8859_1));
            }
        }
        return text.toString().replaceAll("\\r\\n[*$][0-9]+", "").replace("\r\n", " ");
    }

    private static String run(RawClient client, String command) throws IOException {
        return client.command(command.split(" ")).replace("\r\n", " ").strip();
    }

    @Test
    void aDeliveryIsRecordedAsAClaimOfEachEntry() throws IOException {
        String now = Long.toString(clock.wallMillis());
        try (ServerOnDisk server = start()) {
            RawClient client = server.connect();
            run(client, "XGROUP CREATE s g $ MKSTREAM");
            run(client, "XADD s 1-1 f v");
            run(client, "XADD s 1-2 f v");
            run(client, "XREADGROUP GROUP g c STREAMS s >");
            run(client, "XREADGROUP GROUP g c STREAMS s 0");
            run(client, "XREADGROUP GROUP g d STREAMS s >");
            run(client, "XADD s 1-3 f v");
            run(client, "XREADGROUP GROUP g e NOACK STREAMS s >");
            run(client, "XDEL s 1-1");
            run(client, "XAUTOCLAIM s g e 0 0 JUSTID");
            run(client, "XACK s g 1-2");
        }
        String claim = " TIME " + now + " RETRYCOUNT ";
        assertThat(log()).containsSubsequence("XGROUP CREATE s g $ MKSTREAM",
                "XCLAIM s g c 0 1-1" + claim + "1 FORCE JUSTID LASTID 1-2",
                "XCLAIM s g c 0 1-2" + claim + "1 FORCE JUSTID LASTID 1-2", "XGROUP SETID s g 1-2 ENTRIESREAD 2",
                "XGROUP CREATECONSUMER s g d", "XADD s 1-3", "XGROUP CREATECONSUMER s g e",
                "XGROUP SETID s g 1-3 ENTRIESREAD 3", "XDEL s 1-1", "XACK s g 1-1",
                "XCLAIM s g e 0 1-2" + claim + "2 FORCE JUSTID LASTID 1-3", "XACK s g 1-2");
        assertThat(log()).doesNotContain("XREADGROUP", "XAUTOCLAIM");
    }

    @Test
    void aDeliveryToAWaitingConsumerIsRecorded() throws IOException {
        try (ServerOnDisk server = start()) {
            RawClient client = server.connect();
            run(client, "XGROUP CREATE s g $ MKSTREAM");
            RawClient waiting = server.connect();
            waiting.queue("XREADGROUP", "GROUP", "g", "c", "BLOCK", "0", "STREAMS", "s", ">");
            waiting.flush();
            while (client.infoLong("blocked_clients") == 0) {
                Thread.onSpinWait();
            }
            run(client, "XADD s 1-1 f v");
            assertThat(waiting.reply()).contains("1-1");
        }
        assertThat(log()).containsSubsequence("XGROUP CREATECONSUMER s g c", "XADD s 1-1", "XCLAIM s g c 0 1-1",
                "XGROUP SETID s g 1-1 ENTRIESREAD 1");
        try (ServerOnDisk server = start()) {
            RawClient client = server.connect();
            assertThat(run(client, "XPENDING s g")).contains("*4 :1 $3 1-1 $3 1-1");
        }
    }

    @Test
    void groupsAreAsBeforeAfterARestart() throws IOException {
        SplittableRandom random = new SplittableRandom(TestBudget.seed("varve.groups.seed"));
        String before = "";
        for (int i = 0; i < 3; i++) {
            try (ServerOnDisk server = start()) {
                RawClient client = server.connect();
                assertThat(i == 0 ? "" : state(client)).isEqualTo(before);
                for (int j = 0; j < COMMANDS; j++) {
                    run(client, command(random));
                    clock.pass(random.nextInt(10));
                }
                before = state(client);
            }
        }
    }

    private static String command(SplittableRandom random) {
        String id = random.nextInt(30) + "-" + random.nextInt(3);
        String group = "s g" + random.nextInt(2);
        String consumer = "c" + random.nextInt(3);
        return switch (random.nextInt(13)) {
            case 0, 1, 2, 3 -> "XADD s " + (1 + random.nextInt(100)) + "-* f v";
            case 4 -> "XGROUP CREATE " + group + " " + id + " MKSTREAM";
            case 5, 6, 7 -> "XREADGROUP GROUP " + group.substring(2) + " " + consumer + " COUNT "
                    + (1 + random.nextInt(3)) + (random.nextInt(4) == 0 ? " NOACK" : "") + " STREAMS s >";
            case 8 -> "XCLAIM " + group + " " + consumer + " 0 " + id + " " + id + " FORCE IDLE 1";
            case 9 -> "XAUTOCLAIM " + group + " " + consumer + " " + random.nextInt(2) + " 0 COUNT 2";
            case 10 -> "XACK " + group + " " + id;
            case 11 -> random.nextInt(3) == 0
                    ? "XGROUP " + List.of("DELCONSUMER", "SETID").get(random.nextInt(2)) + " " + group + " 1"
                    : "XDEL s " + id;
            default -> random.nextInt(4) == 0
                    ? "XTRIM s MAXLEN 5"
                    : "XCLAIM " + group + " " + consumer + " 0 5 LASTID "
                            + id;
        };
    }

    /** All that is recorded: when a consumer was seen is not. */
    private static String state(RawClient client) throws IOException {
        return run(client, "XINFO STREAM s FULL COUNT 0").replaceAll("\\$(9 seen|11 active)-time :-?[0-9]+", "");
    }
}
