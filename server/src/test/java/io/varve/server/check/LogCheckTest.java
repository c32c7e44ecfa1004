package io.varve.server.check;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;

import io.varve.server.VarveServer;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import io.varve.testing.Polling;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Checks and repairs of logs, whole and damaged. Confined to the test's thread. */
@Timeout(300)
class LogCheckTest {
    private static final int INPUTS = TestBudget.ofInt("varve.check.inputs", 200, 10_000);
    private static final int WRITES = 20;
    private static final String SET_A = "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n";

    @RegisterExtension
    final ServerExtension servers = ServerExtension.withoutServer();

    @TempDir
    Path folder;

    private Path data() {
        return folder.resolve("data");
    }

    private Path log() {
        return data().resolve("appendonlydir");
    }

    private static VarveServer start(Path data) throws IOException {
        return VarveServer.start(ServerExtension.config("maxmemory 64mb", "dir " + data, "appendonly yes", "shards 4",
                "appendfsync always"));
    }

    /**
     * A log with a base and three increments. Each of these has {@link #WRITES} writes, each in a block of its own, and
     * a transaction of two. Key {@code last} says how many writes there were.
     */
    private void writeLog() throws IOException {
        Files.createDirectories(data());
        for (int i = 0; i < 3; i++) {
            try (VarveServer server = start(data()); RawClient client = new RawClient(server.port())) {
                for (int j = 0; j < WRITES; j++) {
                    client.command("SET", "last", Integer.toString(i * WRITES + j));
                }
                client.command("MULTI");
                client.command("SADD", "set", "member" + i);
                client.command("RPUSH", "list", "element" + i);
                client.command("EXEC");
                if (i == 0) {
                    client.command("BGREWRITEAOF");
                    while (client.infoLong("aof_rewrite_in_progress") == 1 || client.infoLong("aof_rewrites") < 2) {
                        Polling.pause();
                    }
                    client.command("SET", "after", "1");
                }
            }
        }
    }

    private List<Path> increments() throws IOException {
        try (Stream<Path> files = Files.list(log())) {
            return files.filter(file -> file.toString().endsWith(".incr.aof")).sorted().toList();
        }
    }

    private static Map<String, String> content(Path directory) throws IOException {
        Map<String, String> content = new TreeMap<>();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                content.put(directory.relativize(file).toString(), Files.readString(file, StandardCharsets.ISO_8859_1));
            }
        }
        return content;
    }

    /** Where the blocks of an increment begin. */
    private static List<Integer> blocks(byte[] increment) {
        String text = new String(increment, StandardCharsets.ISO_8859_1);
        List<Integer> blocks = new ArrayList<>();
        for (int at = text.indexOf("#B:"); at >= 0; at = text.indexOf("#B:", at + 1)) {
            blocks.add(at);
        }
        return blocks;
    }

    private static String last(Path data) throws IOException {
        try (VarveServer server = start(data); RawClient client = new RawClient(server.port())) {
            return client.call("GET", "last").text();
        }
    }

    private Checked check() {
        return Checked.run("check-log", data().toString());
    }

    private Checked repair() {
        return Checked.run("check-log", data().toString(), "--repair");
    }

    @Test
    void logOfAServer_isCountedFileByFile() throws IOException {
        writeLog();
        Checked checked = check();
        assertThat(checked.status()).as(checked.out()).isZero();
        assertThat(checked.line("appendonly.aof.2.base.rdb")).startsWith("appendonly.aof.2.base.rdb base ")
                .endsWith(" 0 0 0 - - 0");
        // The first command selects a database; MULTI and EXEC are commands of the log, too.
        assertThat(checked.line(increments().get(1).getFileName() + " increment"))
                .matches(".* increment [0-9,]+ 21 25 1 [0-9-]+T[0-9:.]+Z [0-9-]+T[0-9:.]+Z 0");
        assertThat(checked.line("0 string")).startsWith("0 string 1 ");
        assertThat(checked.line("SET ")).startsWith("SET 41 ");
        assertThat(checked.line("MULTI ")).startsWith("MULTI 2 ");
        assertThat(checked.lastLine()).startsWith("Log is valid: 4 files, ");
        assertThat(Checked.run("check-log", log().toString()).out()).isEqualTo(checked.out());
        Checked none = repair();
        assertThat(none.status()).isZero();
        assertThat(none.lastLine()).contains("nothing to repair");
        assertThat(folder.resolve("data.repaired")).doesNotExist();
    }

    @Test
    void tornEnd_isNoDamage_andARepairCutsItInACopy() throws IOException {
        writeLog();
        Path last = increments().getLast();
        byte[] good = Files.readAllBytes(last);
        List<Integer> blocks = blocks(good);
        int torn = 10;
        Files.write(last, Arrays.copyOf(good, blocks.getLast() + torn));
        Map<String, String> before = content(data());
        Checked checked = check();
        assertThat(checked.status()).isZero();
        assertThat(checked.out()).contains(last + ", byte " + blocks.getLast() + ": the last 10 bytes are incomplete."
                + " They can be cut off: start does it by itself (aof-load-truncated)");
        assertThat(checked.lastLine()).startsWith("Log is valid up to its torn end: ");
        Checked repaired = repair();
        assertThat(repaired.status()).isZero();
        assertThat(repaired.line("dropped 10 bytes with 0 readable commands")).endsWith("from byte " + blocks.getLast()
                + " on");
        assertThat(content(data())).as("the log is not changed").isEqualTo(before);
        Path copy = folder.resolve("data.repaired");
        assertThat(Files.readAllBytes(copy.resolve("appendonlydir").resolve(last.getFileName())))
                .isEqualTo(Arrays.copyOf(good, blocks.getLast()));
        Checked again = Checked.run("check-log", copy.toString());
        assertThat(again.lastLine()).startsWith("Log is valid: 4 files, ");
        assertThat(last(copy)).isEqualTo("59");
        Checked refused = repair();
        assertThat(refused.status()).isEqualTo(FileCheck.UNREADABLE);
        assertThat(refused.err()).contains("data.repaired: it exists");
    }

    @Test
    void damageInTheMiddle_isCutWithAllThatFollows() throws IOException {
        writeLog();
        Path damaged = increments().get(1);
        byte[] bytes = Files.readAllBytes(damaged);
        List<Integer> blocks = blocks(bytes);
        int length = bytes.length;
        int cut = blocks.get(5);
        bytes[blocks.get(6) - 3] ^= 1;
        Files.write(damaged, bytes);
        Map<String, String> before = content(data());
        Checked checked = check();
        assertThat(checked.status()).isEqualTo(FileCheck.DAMAGED);
        assertThat(checked.lastLine()).isEqualTo("Log is damaged: " + damaged + ", byte " + cut
                + ": the block of commands that begins here is damaged");
        Checked repaired = repair();
        assertThat(repaired.status()).as(repaired.out()).isZero();
        Path last = increments().getLast();
        long lastBytes = Files.size(last);
        // Of 25 commands, 6 are before the damage, and one is damaged.
        assertThat(repaired.out().replace(",", "")).contains("dropped " + (length - cut)
                + " bytes with 18 readable commands: " + damaged.getFileName() + " from byte " + cut + " on")
                .contains("dropped " + lastBytes + " bytes with 25 readable commands: " + last.getFileName())
                .contains("dropped in all " + (length - cut + lastBytes) + " bytes with 43 readable commands");
        assertThat(content(data())).as("the log is not changed").isEqualTo(before);
        Path copy = folder.resolve("data.repaired");
        assertThat(Checked.run("check-log", copy.toString()).lastLine()).startsWith("Log is valid: 3 files, ");
        assertThat(last(copy)).isEqualTo("24");
    }

    /** A block in front of forced ones was on disk: its damage is no torn end. */
    @Test
    void damageInFrontOfForcedBlocks_isDamageOfTheLastFileToo() throws IOException {
        writeLog();
        Path last = increments().getLast();
        byte[] bytes = Files.readAllBytes(last);
        List<Integer> blocks = blocks(bytes);
        bytes[blocks.get(4) - 3] ^= 1;
        Files.write(last, bytes);
        assertThat(check().status()).isEqualTo(FileCheck.DAMAGED);
        assertThat(repair().status()).isZero();
        assertThat(last(folder.resolve("data.repaired"))).isEqualTo("42");
    }

    @Test
    void missingFile_isDamage() throws IOException {
        writeLog();
        Path missing = increments().get(1);
        Files.delete(missing);
        Checked checked = repair();
        assertThat(checked.status()).as(checked.out()).isZero();
        assertThat(checked.out()).contains("Log is damaged: " + missing + ": the manifest lists it");
        assertThat(last(folder.resolve("data.repaired"))).isEqualTo("19");
    }

    @Test
    void damagedBase_cannotBeRepaired() throws IOException {
        writeLog();
        Path base = log().resolve("appendonly.aof.2.base.rdb");
        byte[] bytes = Files.readAllBytes(base);
        bytes[bytes.length - 12] ^= 1;
        Files.write(base, bytes);
        Checked checked = repair();
        assertThat(checked.status()).isEqualTo(FileCheck.DAMAGED);
        assertThat(checked.out()).contains("Log is damaged: " + base + ": offset ");
        assertThat(checked.lastLine()).startsWith("No copy was written");
        assertThat(folder.resolve("data.repaired")).doesNotExist();
    }

    @Test
    void damagedManifest_isDamage() throws IOException {
        writeLog();
        Path manifest = log().resolve("appendonly.aof.manifest");
        for (String wrong : List.of("", "file a seq 1", "file \"\\xzz\" seq 1 type b", "file \"a\\x00b\" seq 1 type b",
                "file none seq 1 type b")) {
            Files.writeString(manifest, wrong);
            Checked checked = check();
            assertThat(checked.status()).as(wrong).isEqualTo(FileCheck.DAMAGED);
            assertThat(checked.lastLine()).as(wrong).startsWith("Log is damaged: ");
            assertThat(repair().status()).isEqualTo(FileCheck.DAMAGED);
        }
    }

    @Test
    void severalLogs_needAName() throws IOException {
        Files.createDirectories(data());
        Files.writeString(data().resolve("a.aof"), SET_A);
        Files.writeString(data().resolve("a.manifest"), "file a.aof seq 1 type i\n");
        assertThat(check().lastLine()).isEqualTo("Log is valid: 1 files, 1 commands");
        Files.writeString(data().resolve("b.manifest"), "file a.aof seq 1 type i\n");
        Files.writeString(data().resolve("temp-c.manifest"), "file a.aof seq 1 type i\n");
        assertThat(check().err()).contains("several logs").contains("a.manifest", "b.manifest");
        Checked named = Checked.run("check-log", data().resolve("a.manifest").toString());
        assertThat(named.lastLine()).isEqualTo("Log is valid: 1 files, 1 commands");
    }

    /** Redis's log has no blocks: a transaction without an end is cut off as a whole. */
    @Test
    void logOfRedis_isCheckedAndRepaired() throws IOException {
        Files.createDirectories(log());
        String torn = "*1\r\n$5\r\nMULTI\r\n" + SET_A;
        Files.writeString(log().resolve("r.1.incr.aof"), "#TS:1700000000\r\n" + SET_A + SET_A + torn);
        Files.writeString(log().resolve("r.manifest"), "file r.1.incr.aof seq 1 type i\n");
        Checked repaired = repair();
        assertThat(repaired.status()).as(repaired.out()).isZero();
        assertThat(repaired.line("dropped " + torn.length() + " bytes with 2 readable commands")).contains("r.1.incr");
        assertThat(folder.resolve("data.repaired/appendonlydir/r.1.incr.aof")).content()
                .isEqualTo("#TS:1700000000\r\n" + SET_A + SET_A);
    }

    @Test
    void anyDamage_isFoundOrTorn_andItsRepairIsValid() throws IOException {
        writeLog();
        List<Path> increments = increments();
        long seed = TestBudget.seed("varve.check.seed");
        SplittableRandom random = new SplittableRandom(seed);
        Path copy = folder.resolve("data.repaired");
        for (int i = 0; i < INPUTS; i++) {
            Path file = increments.get(random.nextInt(increments.size()));
            byte[] good = Files.readAllBytes(file);
            int at = random.nextInt(good.length);
            byte[] damaged = random.nextBoolean() ? Arrays.copyOf(good, at) : good.clone();
            if (damaged.length == good.length) {
                damaged[at] ^= (byte) (1 + random.nextInt(255));
            }
            Files.write(file, damaged);
            String how = "seed " + seed + ", input " + i + ", byte " + at + " of " + file;
            Checked checked = repair();
            assertThat(checked.err()).as(how).isEmpty();
            assertThat(checked.status()).as(how + checked.out()).isZero();
            if (Files.exists(copy)) {
                Checked again = Checked.run("check-log", copy.toString());
                assertThat(again.lastLine()).as(how + again.out()).startsWith("Log is valid: ");
                delete(copy);
            } else {
                // A cut between two blocks leaves a valid log. So does another count of forced bytes before a block, or
                // another case of a digit of its checksum.
                assertThat(damaged.length < good.length || isInBlockLine(good, at)).as(how).isTrue();
            }
            Files.write(file, good);
        }
    }

    private static boolean isInBlockLine(byte[] increment, int at) {
        String text = new String(increment, StandardCharsets.ISO_8859_1);
        return text.startsWith("#B:", text.lastIndexOf('\n', at - 1) + 1);
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
