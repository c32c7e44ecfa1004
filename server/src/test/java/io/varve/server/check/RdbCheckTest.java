package io.varve.server.check;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.varve.memory.item.Ticker;
import io.varve.server.VarveServer;
import io.varve.server.rdb.Payloads;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static io.varve.server.rdb.Payloads.length;
import static io.varve.server.rdb.Payloads.listpack;
import static io.varve.server.rdb.Payloads.little;
import static io.varve.server.rdb.Payloads.texts;
import static org.assertj.core.api.Assertions.assertThat;

/** Checks of RDB files, whole and damaged. Confined to the test's thread. */
@Timeout(300)
class RdbCheckTest {
    private static final String NO_CHECKSUM = "\u00ff\0\0\0\0\0\0\0\0";
    private static final int INPUTS = TestBudget.ofInt("varve.check.inputs", 400, 20_000);

    @RegisterExtension
    final ServerExtension servers = ServerExtension.withoutServer();

    @TempDir
    Path directory;

    private Path file(String latin1) throws IOException {
        return Files.write(directory.resolve("file.rdb"), latin1.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static Checked check(Path file) {
        return Checked.run("check-rdb", file.toString());
    }

    /** A snapshot with all types, in two databases. */
    private Path snapshot(String... settings) throws IOException {
        String[] all = Arrays.copyOf(settings, settings.length + 3);
        all[settings.length] = "maxmemory 64mb";
        all[settings.length + 1] = "dir " + directory;
        all[settings.length + 2] = "shards 4";
        try (VarveServer server = VarveServer.start(ServerExtension.config(all));
                RawClient client = new RawClient(server.port())) {
            client.setKeys("key", 2_000, "a value that is compressed: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
            client.command("SET", "expiring", "1", "PX", "1000000");
            client.command("SET", "a \"strange\"\nname", "x".repeat(10_000));
            for (int i = 0; i < 500; i++) {
                client.command("RPUSH", "list", "element" + i, Integer.toString(i));
                client.command("SADD", "numbers", Integer.toString(i));
                client.command("ZADD", "zset", Integer.toString(i), "member" + i);
                client.command("HSET", "hash", "field" + i, Integer.toString(i));
            }
            client.command("SADD", "small", "a", "b", "c");
            client.command("SELECT", "3");
            client.command("HSET", "hash", "f", "1", "g", "2");
            client.command("HPEXPIRE", "hash", "1000000", "FIELDS", "1", "f");
            assertThat(client.command("SAVE")).isEqualTo("+OK\r\n");
        }
        return directory.resolve("dump.rdb");
    }

    @Test
    void snapshotOfAServer_isCountedByDatabaseAndType() throws IOException {
        Checked checked = check(snapshot());
        assertThat(checked.status()).as(checked.out()).isZero();
        assertThat(checked.err()).isEmpty();
        assertThat(checked.line("Version")).isEqualTo("Version \"REDIS0012\"");
        assertThat(checked.line("Checksum")).isEqualTo("Checksum right");
        assertThat(checked.line("Field \"ctime\"")).endsWith("Z)");
        assertThat(checked.line("0 string")).startsWith("0 string 2,002 1 0 2,002 ");
        assertThat(checked.line("0 list")).startsWith("0 list 1 0 0 1,000 ");
        assertThat(checked.line("0 set")).startsWith("0 set 2 0 0 503 ");
        assertThat(checked.line("0 zset")).startsWith("0 zset 1 0 0 500 ");
        assertThat(checked.line("0 hash")).startsWith("0 hash 1 0 0 500 ");
        assertThat(checked.line("3 hash")).startsWith("3 hash 1 0 0 2 8 ");
        assertThat(checked.line("all")).startsWith("all 2,008 1 0 4,507 ");
        assertThat(checked.line("0 zset 8,394")).as("members, and 8 bytes for each score").contains("\"zset\"");
        assertThat(checked.line("0 string 10,016 1")).endsWith("\"a \\\"strange\\\"\\nname\"");
        assertThat(checked.lastLine()).isEqualTo("RDB is valid: 2,008 keys");
    }

    @Test
    void librariesOfFunctions_areCounted() throws IOException {
        String source = "#!lua name=lib";
        Checked checked = check(file("REDIS0010\u00f5" + texts(source) + "\u00f5" + texts(source) + NO_CHECKSUM));
        assertThat(checked.status()).isZero();
        assertThat(checked.line("Libraries")).isEqualTo("Libraries 2 of functions, which were not compiled");
    }

    @Test
    void streamsOfAllVersions_areCounted() throws IOException {
        Checked checked = check(file("REDIS0011\u00fe\0" + "\u000f" + texts("a") + Payloads.stream(15) + "\u0013"
                + texts("b") + Payloads.stream(19) + "\u0015" + texts("c") + Payloads.stream(21) + NO_CHECKSUM));
        assertThat(checked.status()).as(checked.out()).isZero();
        assertThat(checked.line("0 stream")).startsWith("0 stream 3 0 0 3 ");
    }

    @Test
    void checksumThatIsSwitchedOff_isNoDamage() throws IOException {
        Checked checked = check(snapshot("rdbchecksum no"));
        assertThat(checked.status()).isZero();
        assertThat(checked.line("Checksum")).contains("switched off");
    }

    @Test
    void everyTruncatedSnapshot_isDamaged() throws IOException {
        byte[] good = Files.readAllBytes(snapshot());
        long seed = TestBudget.seed("varve.check.seed");
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < INPUTS; i++) {
            int length = i < 50 ? good.length - 1 - i : random.nextInt(good.length);
            Checked checked = check(Files.write(directory.resolve("cut.rdb"), Arrays.copyOf(good, length)));
            assertThat(checked.status()).as("seed %s, length %s", seed, length).isEqualTo(FileCheck.DAMAGED);
            assertThat(checked.lastLine()).startsWith("RDB is damaged: offset ");
        }
    }

    @Test
    void everyChangedByte_isFound() throws IOException {
        byte[] good = Files.readAllBytes(snapshot());
        long seed = TestBudget.seed("varve.check.seed");
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < INPUTS; i++) {
            byte[] damaged = good.clone();
            int at = i < 200 ? i : random.nextInt(good.length - Long.BYTES);
            damaged[at] ^= (byte) (1 + random.nextInt(255));
            Checked checked = check(Files.write(directory.resolve("changed.rdb"), damaged));
            assertThat(checked.status()).as("seed %s, byte %s", seed, at).isIn(FileCheck.DAMAGED,
                    FileCheck.UNREADABLE);
            assertThat(checked.lastLine()).containsPattern("RDB (is damaged|cannot be read): offset \\d+: ");
            assertThat(checked.err()).isEmpty();
        }
    }

    @Test
    void firstDamagedValue_isNamedWithItsOffsetAndKey() throws IOException {
        String head = "REDIS0010\0" + texts("good", "1") + "\u0014" + texts("bad\n");
        Checked checked = check(file(head + listpack("a", "b").replace('\u00ff', '\u00fe') + NO_CHECKSUM));
        assertThat(checked.status()).isEqualTo(FileCheck.DAMAGED);
        assertThat(checked.lastLine()).isEqualTo("RDB is damaged: offset " + head.length()
                + ": the value that begins here is damaged; its key is \"bad\\n\"");
        assertThat(checked.line("0 string")).startsWith("0 string 1 ");
        assertThat(checked.line("Checksum")).isEqualTo("Checksum not reached");
    }

    @Test
    void wrongChecksum_isDamageThatIsFoundLast() throws IOException {
        String body = "REDIS0010\0" + texts("good", "1");
        Checked checked = check(file(body + "\u00ff" + little(7, 8)));
        assertThat(checked.status()).isEqualTo(FileCheck.DAMAGED);
        assertThat(checked.line("Checksum")).isEqualTo("Checksum wrong");
        assertThat(checked.lastLine()).startsWith("RDB is damaged: offset " + (body.length() + 1) + ": the checksum");
    }

    /** Old versions of Redis have written such keys, and a start skips them. */
    @Test
    void emptyCollections_areCountedApart() throws IOException {
        Checked checked = check(file("REDIS0010\u0002" + texts("set") + length(0) + "\u0004" + texts("hash") + length(0)
                + "\0" + texts("string", "") + NO_CHECKSUM));
        assertThat(checked.status()).isEqualTo(FileCheck.VALID);
        assertThat(checked.line("2 collections")).isEqualTo("2 collections without elements, which a start skips");
        assertThat(checked.lastLine()).isEqualTo("RDB is valid: 1 keys");
    }

    @Test
    void expiredKeys_areCounted() throws IOException {
        Checked checked = check(file("REDIS0010\u00fc" + little(1_000, 8) + "\0" + texts("old", "1") + "\u00fc"
                + little(4_000_000_000_000L, 8) + "\0" + texts("later", "1") + "\0" + texts("ever", "1")
                + NO_CHECKSUM));
        assertThat(checked.line("0 string")).startsWith("0 string 3 2 1 3 ");
    }

    @Test
    void filesOfOldVersionsAndOfValkey_areRead() throws IOException {
        Checked old = check(file("REDIS0001\0" + texts("key", "value") + "\u00ff"));
        assertThat(old.status()).isZero();
        assertThat(old.line("Checksum")).contains("no checksum");
        Checked valkey = check(file("VALKEY080\u0016" + texts("hash") + length(2) + texts("a", "b") + little(-1, 8)
                + texts("c", "d") + little(9, 8) + NO_CHECKSUM));
        assertThat(valkey.status()).as(valkey.out()).isZero();
        assertThat(valkey.line("0 hash")).startsWith("0 hash 1 0 0 2 ");
    }

    /** They are not damaged, but Varve cannot load them. */
    @Test
    void whatVarveDoesNotHave_isUnreadable() throws IOException {
        Checked module = check(file("REDIS0010\u0007" + texts("module") + "\u0081" + little(7, 8) + NO_CHECKSUM));
        assertThat(module.status()).isEqualTo(FileCheck.UNREADABLE);
        assertThat(module.lastLine()).startsWith("RDB cannot be read: offset 17: a value of the module");
        assertThat(check(file("REDIS0099" + NO_CHECKSUM)).status()).isEqualTo(FileCheck.UNREADABLE);
    }

    @Test
    void bytesBehindTheEnd_areDamageUnlessTheyAreCommands() throws IOException {
        String rdb = "REDIS0010\0" + texts("key", "value") + NO_CHECKSUM;
        Checked log = check(file(rdb + "*1\r\n"));
        assertThat(log.status()).isZero();
        assertThat(log.out()).contains("Commands follow the RDB data, 4 bytes");
        Checked damaged = check(file(rdb + "x"));
        assertThat(damaged.status()).isEqualTo(FileCheck.DAMAGED);
        assertThat(damaged.lastLine()).startsWith("RDB is damaged: offset " + rdb.length() + ": 1 bytes follow");
        // A changed version: those of Redis before 2.6 have no checksum.
        Checked changed = check(file(rdb.replace("0010", "0002")));
        assertThat(changed.status()).isEqualTo(FileCheck.DAMAGED);
    }

    @Test
    void databasesBeyondAThousand_areCountedTogether() throws IOException {
        StringBuilder file = new StringBuilder("REDIS0010");
        for (int i = 0; i < 1_500; i++) {
            file.append('\u00fe').append(length(i)).append('\0').append(texts("key", "value"));
        }
        Checked checked = check(file(file + NO_CHECKSUM));
        assertThat(checked.line("999 string")).startsWith("999 string 1 ");
        assertThat(checked.line("others string")).startsWith("others string 500 ");
        assertThat(checked.lastLine()).isEqualTo("RDB is valid: 1,500 keys");
    }

    @Test
    void compressedTextThatPromisesTooMuch_isDamage() throws IOException {
        Checked checked = check(file("REDIS0010\0" + texts("key") + "\u00c3" + length(6) + length(60_000) + "abcdef"
                + NO_CHECKSUM));
        assertThat(checked.status()).isEqualTo(FileCheck.DAMAGED);
    }

    @Test
    void progress_isShownOnATerminalOnly() throws IOException {
        Path file = file("REDIS0010\0" + texts("a", "1") + "\0" + texts("b", "1") + NO_CHECKSUM);
        AtomicLong nanos = new AtomicLong();
        Ticker slow = new Ticker() {
            @Override
            public long wallMillis() {
                return 0;
            }

            @Override
            public long nanoTime() {
                return nanos.addAndGet(TimeUnit.SECONDS.toNanos(2));
            }
        };
        assertThat(Checked.run(slow, true, "check-rdb", file.toString()).out()).contains("\r\033[K" + file + ": 5")
                .contains("\r\033[KFile ");
        assertThat(Checked.run(slow, false, "check-rdb", file.toString()).out()).doesNotContain("\r");
    }

    @Test
    void wrongUse_andFilesThatCannotBeRead_areStatus2() throws IOException {
        Path file = file("REDIS0001\u00ff");
        for (String[] wrong : new String[][] {{}, {"check"}, {"check-rdb"}, {"check-rdb", "a", "b"},
                {"check-rdb", "--repair", file.toString()}, {"check-rdb", "--no-such-option"}, {"check-log"},
                {"check-log", "a", "b"}, {"check-log", "--repair"}, {"check-rdb", directory.toString()},
                {"check-log", "a", "--other"}, {"check-rdb", directory.resolve("none").toString()}, {"check-rdb", "\0"},
                {"check-log", file.toString()}, {"check-log", directory.toString()},
                {"check-log", directory.resolve("none").toString()}}) {
            Checked checked = Checked.run(wrong);
            assertThat(checked.status()).as(Arrays.toString(wrong)).isEqualTo(FileCheck.UNREADABLE);
            assertThat(checked.err()).startsWith("varve: ").hasLineCount(1);
            assertThat(checked.out()).isEmpty();
        }
        assertThat(Checked.run("check-rdb", file.toString()).status()).isEqualTo(FileCheck.VALID);
        assertThat(Checked.run("check-rdb", file("").toString()).status()).isEqualTo(FileCheck.DAMAGED);
        assertThat(Checked.run("check-rdb", file("no RDB file").toString()).status()).isEqualTo(FileCheck.DAMAGED);
        assertThat(Checked.run("check-log", "--help").out()).contains("check-log DIR [--repair]");
    }
}
