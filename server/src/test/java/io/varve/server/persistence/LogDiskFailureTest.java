package io.varve.server.persistence;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;

import io.varve.memory.item.Ticker;
import io.varve.server.ServerOnDisk;
import io.varve.server.persistence.ControlledDisk.Operation;
import io.varve.server.testing.RawClient;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static io.varve.server.testing.BlockedClients.expect;
import static io.varve.server.testing.BlockedClients.gets;
import static io.varve.server.testing.BlockedClients.send;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * A log whose disk is full, or whose directory cannot be written, for a while or from the start. Confined to the test's
 * thread.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LogDiskFailureTest {
    private static final String FULL = "No space left on device";
    private static final String REFUSED = "-MISCONF Errors writing to the AOF file: ";
    private static final int FAILURES = 20;

    @TempDir
    Path directory;

    private Path log() {
        return directory.resolve("appendonlydir");
    }

    private static void await(RawClient client, String field, String value) throws IOException {
        while (!client.info(field).equals(value)) {
            Thread.onSpinWait();
        }
    }

    private static void awaitWritable(RawClient client) throws IOException {
        await(client, "aof_last_write_status", "ok");
    }

    private static void awaitUnwritable(RawClient client) throws IOException {
        await(client, "aof_last_write_status", "err");
    }

    private static void rewrite(RawClient client, String status) throws IOException {
        expect(client, "BGREWRITEAOF", "+Background append only file rewriting started");
        await(client, "aof_last_bgrewrite_status", status);
        await(client, "aof_rewrite_in_progress", "0");
    }

    /** All files but a base that is being written, or deleted. */
    private List<String> files() throws IOException {
        try (var files = Files.list(log())) {
            return files.map(file -> file.getFileName().toString()).filter(file -> !file.startsWith("temp-rewrite"))
                    .toList();
        }
    }

    // --- no room

    /** With everysec the log's thread may still have to write what was acknowledged. */
    private static void awaitWritten(ServerOnDisk server) {
        while (server.stream().pendingBytes() > 0) {
            Thread.onSpinWait();
        }
    }

    /** A write that finds the disk full waits, the next ones are refused, and later everything goes on. */
    @ParameterizedTest
    @ValueSource(strings = {"always", "everysec"})
    void fullDisk_refusesWritesUntilThereIsRoom(String sync) throws IOException {
        boolean isAlways = sync.equals("always");
        try (ServerOnDisk server = ServerOnDisk.start(directory, "appendfsync " + sync)) {
            RawClient writer = server.connect();
            RawClient other = server.connect();
            expect(writer, "SET before 1", "+OK");
            for (int i = 0; i < 3; i++) {
                awaitWritten(server);
                server.disk().fail(Operation.WRITE, FULL);
                send(writer, "SET waiting " + i);
                server.disk().awaitFailures(FAILURES);
                awaitUnwritable(other);
                assertThat(writer.isAnswered()).isEqualTo(!isAlways);
                expect(other, "SET refused 1", REFUSED + FULL);
                send(other, "MULTI", "SET refused 1", "EXEC");
                gets(other, "+OK");
                assertThat(other.reply()).startsWith(REFUSED + FULL);
                assertThat(other.reply()).startsWith("-EXECABORT");
                expect(other, "GET before", "$1 1");
                expect(other, "GET waiting", "$1 " + i);
                server.disk().repair();
                gets(writer, "+OK");
                awaitWritable(other);
                expect(other, "SET after " + i, "+OK");
            }
        }
        try (ServerOnDisk server = ServerOnDisk.start(directory)) {
            RawClient client = server.connect();
            expect(client, "MGET before waiting after refused", "*4 $1 1 $1 2 $1 2 $-1");
        }
    }

    /** The log is cut while the disk is full, and the next file cannot be begun. */
    @ParameterizedTest
    @EnumSource(names = {"CREATE", "WRITE", "MOVE"})
    void rewriteWithoutRoom_fails_andTheOldLogStays(Operation failing) throws IOException {
        try (ServerOnDisk server = ServerOnDisk.start(directory)) {
            RawClient client = server.connect();
            expect(client, "SET before 1", "+OK");
            List<String> before = files();
            server.disk().fail(failing, FULL);
            rewrite(client, "err");
            awaitUnwritable(client);
            expect(client, "SET refused 1", REFUSED + FULL);
            expect(client, "GET before", "$1 1");
            server.disk().awaitFailures(FAILURES);
            List<String> added = new ArrayList<>(files());
            added.removeAll(before);
            assertThat(added).as("files of %s failed attempts", FAILURES).hasSizeLessThanOrEqualTo(2);
            // A start would find these files.
            copyLog();
            server.disk().repair();
            awaitWritable(client);
            expect(client, "SET after 1", "+OK");
        }
        try (ServerOnDisk server = ServerOnDisk.start(directory)) {
            RawClient client = server.connect();
            expect(client, "MGET before after refused", "*3 $1 1 $1 1 $-1");
            assertThat(client.command("BGREWRITEAOF")).startsWith("+");
            await(client, "aof_rewrites", "1");
        }
        try (ServerOnDisk server = ServerOnDisk.start(directory.resolve("copy"))) {
            RawClient client = server.connect();
            expect(client, "MGET before after refused", "*3 $1 1 $-1 $-1");
        }
    }

    private void copyLog() throws IOException {
        Path copy = Files.createDirectories(directory.resolve("copy").resolve("appendonlydir"));
        for (String file : files()) {
            Files.copy(log().resolve(file), copy.resolve(file), StandardCopyOption.REPLACE_EXISTING);
        }
    }

    /** The operator turns off the log on a full disk: from then on nothing is promised, and nothing is refused. */
    @Test
    void logThatIsTurnedOffOnAFullDisk_neitherRefusesWritesNorHoldsReplies() throws IOException {
        try (ServerOnDisk server = ServerOnDisk.start(directory)) {
            RawClient writer = server.connect();
            RawClient other = server.connect();
            server.disk().fail(Operation.WRITE, FULL);
            send(writer, "SET k 1");
            awaitUnwritable(other);
            expect(other, "SET k 2", REFUSED + FULL);
            expect(other, "CONFIG SET appendonly no", "+OK");
            gets(writer, "+OK");
            assertThat(other.info("aof_last_write_status")).isEqualTo("ok");
            expect(other, "SET k 2", "+OK");
            server.disk().repair();
            expect(other, "CONFIG SET appendonly yes", "+OK");
            expect(writer, "SET k 3", "+OK");
        }
    }

    @Test
    void logThatCannotBeTurnedOn_staysOff() throws IOException {
        Files.createFile(directory.resolve("appendonlydir"));
        try (ServerOnDisk server = ServerOnDisk.start(directory, "appendonly no")) {
            RawClient client = server.connect();
            assertThat(client.command("CONFIG", "SET", "appendonly", "yes"))
                    .contains("appendonly yes: the log cannot be written: ").contains(log().toString())
                    .contains("it exists, and is not a directory");
            expect(client, "SET k 1", "+OK");
            Files.delete(log());
            expect(client, "CONFIG SET appendonly yes", "+OK");
            expect(client, "SET k 2", "+OK");
        }
    }

    // --- a force that fails

    @Test
    void failedForce_underAlways_endsTheProcess_andNothingWasPromised() throws IOException {
        try (ServerOnDisk server = ServerOnDisk.start(directory)) {
            RawClient writer = server.connect();
            RawClient other = server.connect();
            expect(writer, "SET k 1", "+OK");
            server.disk().fail(Operation.FORCE, "Input/output error");
            send(writer, "SET k 2");
            while (server.fatal() == null) {
                Thread.onSpinWait();
            }
            assertThat(server.fatal()).isEqualTo("the log could not be forced to disk: Input/output error");
            // Another force might succeed, and would have written nothing.
            server.disk().repair();
            expect(other, "GET k", "$1 2");
            assertThat(writer.isAnswered()).isFalse();
            assertThat(server.log().isDurable(server.stream().offset())).isFalse();
        }
    }

    @Test
    void failedForce_underEverysec_refusesWritesUntilOneSucceeds() throws IOException {
        try (ServerOnDisk server = ServerOnDisk.start(directory, "appendfsync everysec")) {
            RawClient client = server.connect();
            server.disk().fail(Operation.FORCE, "Input/output error");
            expect(client, "SET k 1", "+OK");
            awaitUnwritable(client);
            expect(client, "SET k 2", REFUSED + "Input/output error");
            expect(client, "GET k", "$1 1");
            server.disk().repair();
            awaitWritable(client);
            expect(client, "SET k 3", "+OK");
            assertThat(server.fatal()).isNull();
        }
    }

    // --- directories

    @Test
    void startBelowARegularFile_saysWhatIsWrong() throws IOException {
        Path file = Files.createFile(directory.resolve("file"));
        assertThatThrownBy(() -> ServerOnDisk.start(file).close()).isInstanceOf(IOException.class)
                .hasMessage("the log cannot be written: " + file.resolve("appendonlydir") + ": Not a directory");
    }

    /** Nobody may create files there: as root, only the file systems of the kernel refuse. */
    @Test
    void startInADirectoryThatCannotBeWritten_saysWhatIsWrong() throws IOException {
        Path readOnly = Files.createDirectory(directory.resolve("readonly"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("r-xr-xr-x")));
        boolean isRefused = !Files.isWritable(readOnly);
        Path refusing = isRefused ? readOnly : Path.of("/proc");
        assertThatThrownBy(() -> ServerOnDisk.start(refusing).close()).isInstanceOf(IOException.class)
                .hasMessageStartingWith("the log cannot be written: " + refusing.resolve("appendonlydir") + ": ")
                .hasMessageEndingWith(isRefused ? "permission denied" : "there is no such file or directory");
    }

    @Test
    void startOnADiskThatRefusesFiles_saysWhatIsWrong() {
        ControlledDisk disk = new ControlledDisk();
        disk.fail(Operation.CREATE, "Read-only file system");
        assertThatThrownBy(() -> ServerOnDisk.start(directory, disk, Ticker.system()).close())
                .isInstanceOf(IOException.class)
                .hasMessage(log() + ": the log cannot be begun: Read-only file system");
    }

    @Test
    void diskThatRefusesFiles_refusesWritesOnceTheLogIsOn_untilItAcceptsThem() throws IOException {
        try (ServerOnDisk server = ServerOnDisk.start(directory, "appendonly no")) {
            server.disk().fail(Operation.CREATE, "Read-only file system");
            RawClient client = server.connect();
            expect(client, "CONFIG SET appendonly yes", "+OK");
            awaitUnwritable(client);
            expect(client, "SET k 1", REFUSED + "Read-only file system");
            server.disk().repair();
            awaitWritable(client);
            expect(client, "SET k 2", "+OK");
        }
    }

    /** The file that is open can still be written, but no other one can be created: a rewrite fails, writes go on. */
    @Test
    void directoryThatIsGone_failsARewrite_andIsUsedAgainWhenItIsBack() throws IOException {
        try (ServerOnDisk server = ServerOnDisk.start(directory)) {
            RawClient client = server.connect();
            expect(client, "SET k 1", "+OK");
            Path elsewhere = directory.resolve("elsewhere");
            Files.move(log(), elsewhere);
            Files.createFile(log());
            rewrite(client, "err");
            expect(client, "SET k 2", "+OK");
            Files.delete(log());
            Files.move(elsewhere, log());
            rewrite(client, "ok");
            expect(client, "SET l 1", "+OK");
        }
        try (ServerOnDisk server = ServerOnDisk.start(directory)) {
            RawClient client = server.connect();
            expect(client, "MGET k l", "*2 $1 2 $1 1");
        }
    }
}
