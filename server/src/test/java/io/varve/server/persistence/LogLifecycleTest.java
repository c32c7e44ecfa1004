package io.varve.server.persistence;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.varve.memory.item.Ticker;
import io.varve.server.ServerOnDisk;
import io.varve.server.persistence.ControlledDisk.Operation;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.SettableTicker;
import io.varve.testing.Polling;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static io.varve.server.testing.BlockedClients.expect;
import static io.varve.server.testing.BlockedClients.gets;
import static io.varve.server.testing.BlockedClients.send;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * A log that begins, ends or begins anew while something else happens: a rewrite, a load, a shutdown, a kill. Time
 * stands still, so that nothing is retried before a test says so. Confined to the test's thread.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LogLifecycleTest {
    private static final String FULL = "No space left on device";
    private static final int RETRY_MILLIS = 6_000;

    @TempDir
    Path directory;

    private final SettableTicker ticker = new SettableTicker();

    private ServerOnDisk start(String... settings) throws IOException {
        return ServerOnDisk.start(directory, new ControlledDisk(), ticker, settings);
    }

    private static void await(RawClient client, String field, String value) throws IOException {
        while (!client.info(field).equals(value)) {
            Polling.pause();
        }
    }

    private static void awaitWritten(ServerOnDisk server) {
        while (server.stream().pendingBytes() > 0) {
            Thread.onSpinWait();
        }
    }

    /** Writes under everysec, and lets one force fail: no other one is due before time passes. */
    private void failForce(ServerOnDisk server, RawClient client) throws IOException {
        server.disk().fail(Operation.FORCE, "Input/output error");
        expect(client, "SET k 1", "+OK");
        awaitWritten(server);
        ticker.pass(1_000);
        await(client, "aof_last_write_status", "err");
    }

    /** Copies the files that a kill would leave. */
    private Path copyOfLog() throws IOException {
        Path copy = Files.createTempDirectory(directory, "copy");
        Path log = Files.createDirectory(copy.resolve("appendonlydir"));
        try (var files = Files.list(directory.resolve("appendonlydir"))) {
            for (Path file : files.toList()) {
                Files.copy(file, log.resolve(file.getFileName()));
            }
        }
        return copy;
    }

    private static void expectAfterStart(Path from, String command, String reply) throws IOException {
        try (ServerOnDisk server = ServerOnDisk.start(from)) {
            expect(server.connect(), command, reply);
        }
    }

    /** A rewrite begins on a thread of its own, perhaps after the log has ended: then nobody would take changes. */
    @Test
    void rewriteOfALogThatHasEnded_recordsNothing() throws IOException {
        try (ServerOnDisk server = start()) {
            RawClient client = server.connect();
            expect(client, "CONFIG SET appendonly no", "+OK");
            long offset = server.stream().offset();
            assertThat(server.stream().cut()).isEqualTo(offset);
            assertThat(server.stream().isOn()).isFalse();
            assertThatThrownBy(() -> server.log().replaceBase(Files.createFile(directory.resolve("base")), offset))
                    .hasMessage("the log was closed");
            expect(client, "SET k 1", "+OK");
            assertThat(server.stream().offset()).isEqualTo(offset);
            expect(client, "CONFIG SET appendonly yes", "+OK");
            await(client, "aof_rewrites", "2");
            expect(client, "SET k 2", "+OK");
        }
        expectAfterStart(directory, "GET k", "$1 2");
    }

    @Test
    void killDuringDebugReload_leavesTheDataOfBefore() throws IOException {
        try (ServerOnDisk server = start("enable-debug-command yes")) {
            RawClient client = server.connect();
            expect(client, "SET k 1", "+OK");
            server.disk().fail(Operation.MOVE, FULL);
            assertThat(client.command("DEBUG", "RELOAD")).contains(FULL);
            expect(client, "GET k", "$1 1");
            Path copy = copyOfLog();
            server.disk().repair();
            expectAfterStart(copy, "GET k", "$1 1");
            // The base is retried.
            while (!client.info("aof_rewrites").equals("2")) {
                ticker.pass(RETRY_MILLIS);
            }
            expect(client, "SET l 1", "+OK");
        }
        expectAfterStart(directory, "MGET k l", "*2 $1 1 $1 1");
    }

    @Test
    void changesDuringAFailedDebugReload_areInTheLogOfBefore() throws IOException {
        try (ServerOnDisk server = start("enable-debug-command yes")) {
            RawClient client = server.connect();
            expect(client, "SET k 1", "+OK");
            server.disk().fail(Operation.MOVE, FULL);
            assertThat(client.command("DEBUG", "RELOAD")).contains(FULL);
            server.disk().repair();
            await(client, "aof_last_write_status", "ok");
            expect(client, "SET l 1", "+OK");
            assertThat(client.info("aof_rewrites")).isEqualTo("1");
            expectAfterStart(copyOfLog(), "MGET k l", "*2 $1 1 $1 1");
        }
        expectAfterStart(directory, "MGET k l", "*2 $1 1 $1 1");
    }

    @Test
    void debugReloadWithoutAFile_beginsTheLogAnewWithWhatIsThere() throws IOException {
        try (ServerOnDisk server = start("enable-debug-command yes")) {
            RawClient client = server.connect();
            expect(client, "SET k 1", "+OK");
            assertThat(client.command("DEBUG", "RELOAD", "NOSAVE")).contains("Error trying to load the RDB dump: ");
            expect(client, "DBSIZE", ":0");
            expect(client, "SET l 1", "+OK");
        }
        expectAfterStart(directory, "MGET k l", "*2 $-1 $1 1");
    }

    @Test
    void shutdown_writesTheBaseOfALogThatHasNone() throws IOException {
        try (ServerOnDisk server = start("appendonly no")) {
            RawClient client = server.connect();
            expect(client, "SET k 1", "+OK");
            server.disk().fail(Operation.MOVE, FULL);
            expect(client, "CONFIG SET appendonly yes", "+OK");
            await(client, "aof_last_bgrewrite_status", "err");
            server.disk().repair();
        }
        expectAfterStart(directory, "GET k", "$1 1");
    }

    /** Redis leaves such a file behind a base, whose load may take longer than the time between two reports. */
    @Test
    void emptyIncrementBehindALongLoad_isLoaded() throws IOException {
        start().close();
        Path increment = directory.resolve("appendonlydir").resolve("appendonly.aof.1.incr.aof");
        assertThat(increment).exists();
        Files.write(increment, new byte[0]);
        AtomicLong nanos = new AtomicLong();
        Ticker slow = new Ticker() {
            @Override
            public long wallMillis() {
                return ticker.wallMillis();
            }

            @Override
            public long nanoTime() {
                return nanos.addAndGet(TimeUnit.SECONDS.toNanos(10));
            }
        };
        try (ServerOnDisk server = ServerOnDisk.start(directory, new ControlledDisk(), slow)) {
            expect(server.connect(), "DBSIZE", ":0");
        }
    }

    @Test
    void filesThatAProcessHasLeftUnfinished_areDeleted() throws IOException {
        start().close();
        Path log = directory.resolve("appendonlydir");
        Path base = Files.createFile(log.resolve("temp-rewriteaof-17.rdb"));
        Path ofItsWriter = Files.createFile(log.resolve("temp-17.rdb"));
        Path other = Files.createFile(log.resolve("temp-x.rdb"));
        start().close();
        assertThat(base).doesNotExist();
        assertThat(ofItsWriter).doesNotExist();
        assertThat(other).exists();
    }

    @Test
    void failedAttemptsAtAFirstBase_leaveNoFiles() throws IOException {
        try (ServerOnDisk server = start("appendonly no")) {
            RawClient client = server.connect();
            server.disk().fail(Operation.MOVE, FULL);
            expect(client, "CONFIG SET appendonly yes", "+OK");
            for (int i = 0; i < 3; i++) {
                await(client, "aof_last_bgrewrite_status", "err");
                int before = server.disk().failed();
                while (server.disk().failed() == before) {
                    expect(client, "SET k " + i, "+OK");
                    ticker.pass(RETRY_MILLIS);
                }
            }
            server.disk().repair();
            while (!server.log().isComplete()) {
                ticker.pass(RETRY_MILLIS);
            }
            await(client, "aof_rewrite_in_progress", "0");
            try (var files = Files.list(directory.resolve("appendonlydir"))) {
                assertThat(files.filter(file -> file.toString().contains(".incr."))).hasSize(1);
            }
        }
    }

    /** The log's thread is in a force when the log ends; the change came after it had last found nothing to write. */
    @Test
    void changeDuringTheLastForce_isWritten() throws Exception {
        try (ServerOnDisk server = start("appendfsync everysec")) {
            RawClient client = server.connect();
            RawClient other = server.connect();
            expect(client, "SET k 1", "+OK");
            awaitWritten(server);
            server.disk().hold();
            ticker.pass(1_000);
            server.disk().awaitHeld();
            expect(client, "SET k 2", "+OK");
            send(other, "CONFIG SET appendonly no");
            while (server.stream().isOn()) {
                Thread.onSpinWait();
            }
            server.disk().release();
            gets(other, "+OK");
        }
        expectAfterStart(directory, "GET k", "$1 2");
    }

    /** The rewrite forces the file that could not be forced, and begins another one, of which nothing is unforced. */
    @Test
    void rewriteAfterAForceThatFailed_acceptsWritesAgain() throws IOException {
        try (ServerOnDisk server = start("appendfsync everysec")) {
            RawClient client = server.connect();
            failForce(server, client);
            server.disk().repair();
            expect(client, "BGREWRITEAOF", "+Background append only file rewriting started");
            await(client, "aof_last_write_status", "ok");
            expect(client, "SET k 2", "+OK");
        }
        expectAfterStart(directory, "GET k", "$1 2");
    }

    @Test
    void forceThatFails_isTriedAgainWithoutEverysec() throws IOException {
        try (ServerOnDisk server = start("appendfsync everysec")) {
            RawClient client = server.connect();
            failForce(server, client);
            expect(client, "CONFIG SET appendfsync no", "+OK");
            server.disk().repair();
            while (!client.info("aof_last_write_status").equals("ok")) {
                ticker.pass(1_000);
            }
        }
    }

    /** A change was made and cannot be recorded: what follows would be wrong without it. */
    @Test
    void changeThatCannotBeRecorded_endsTheProcess() throws IOException {
        try (ServerOnDisk server = start()) {
            RawClient client = server.connect();
            expect(client, "SET k 1", "+OK");
            server.stream().fail(new OutOfMemoryError("no block"));
            while (server.fatal() == null) {
                Thread.onSpinWait();
            }
            assertThat(server.fatal()).contains("a change could not be kept");
            expect(client, "GET k", "$1 1");
        }
        expectAfterStart(directory, "GET k", "$1 1");
    }

    /** Redis, too, keeps on after such a failure; what the disk has dropped is in the next base. */
    @Test
    void forceThatFailsOnce_underEverysec_isFollowedByARewrite() throws IOException {
        try (ServerOnDisk server = start("appendfsync everysec")) {
            RawClient client = server.connect();
            failForce(server, client);
            server.disk().repair();
            while (!client.info("aof_rewrites").equals("2")) {
                ticker.pass(1_000);
            }
            expect(client, "SET k 2", "+OK");
        }
        expectAfterStart(directory, "GET k", "$1 2");
    }

    @Test
    void blocksInFrontOfAFullDisk_areForced() throws IOException {
        try (ServerOnDisk server = start("appendfsync everysec")) {
            RawClient client = server.connect();
            expect(client, "SET k 1", "+OK");
            awaitWritten(server);
            int before = server.disk().forces();
            server.disk().fail(Operation.WRITE, FULL);
            expect(client, "SET k 2", "+OK");
            server.disk().awaitFailures(1);
            ticker.pass(1_000);
            server.disk().awaitFailures(2);
            assertThat(server.disk().forces()).isGreaterThan(before);
            expect(client, "SET k 3", "-MISCONF Errors writing to the AOF file: " + FULL);
            send(client, "GET k");
            gets(client, "$1 2");
        }
    }
}
