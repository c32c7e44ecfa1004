package io.varve.server.replication;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import io.varve.server.VarveServer;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import io.varve.testing.Polling;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests SYNC, PSYNC and REPLCONF byte by byte, with a client that plays a replica. Confined to the test's thread. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ReplicationProtocolTest {
    private static final int ID_CHARS = 40;

    @RegisterExtension
    final ServerExtension servers = ServerExtension.withoutServer();

    /** Snapshots are saved here. */
    @TempDir
    Path directory;

    private final List<RawClient> clients = new ArrayList<>();
    private VarveServer server;
    private RawClient client;
    private String id = "";
    /** Where the stream begins for the replica that was attached last. */
    private long offset;

    @BeforeEach
    void connect() throws IOException {
        server = servers.start(ServerExtension.config("maxmemory 64mb", "enable-debug-command yes",
                "io-threads 2", "repl-ping-replica-period 2147483647", "dir " + directory));
        client = open();
    }

    @AfterEach
    void disconnect() throws IOException {
        for (RawClient each : clients) {
            each.close();
        }
    }

    private RawClient open() throws IOException {
        RawClient opened = new RawClient(server.port());
        clients.add(opened);
        return opened;
    }

    private RawClient introduce(String... options) throws IOException {
        RawClient replica = open();
        assertThat(replica.command("PING")).isEqualTo("+PONG\r\n");
        assertThat(replica.command("REPLCONF", "listening-port", "7777")).isEqualTo("+OK\r\n");
        for (String option : options) {
            assertThat(replica.command(("REPLCONF " + option).split(" "))).isEqualTo("+OK\r\n");
        }
        return replica;
    }

    private static void ask(RawClient replica, String... command) throws IOException {
        replica.queue(command);
        replica.flush();
    }

    /** Reads an answer with a snapshot up to a mark, and acknowledges it. */
    private void readSnapshot(RawClient replica) throws IOException {
        readHead(replica);
        readToMark(replica);
        ask(replica, "REPLCONF", "ACK", Long.toString(offset));
    }

    private void readHead(RawClient replica) throws IOException {
        String[] line = line(replica).split(" ");
        assertThat(line[0]).isEqualTo("+FULLRESYNC");
        id = line[1];
        assertThat(id).matches("[0-9a-f]{" + ID_CHARS + "}").isEqualTo(client.info("master_replid"));
        offset = Long.parseLong(line[2]);
    }

    private static String readToMark(RawClient replica) throws IOException {
        String line = line(replica);
        assertThat(line).startsWith("$EOF:");
        String mark = line.substring("$EOF:".length());
        StringBuilder snapshot = new StringBuilder(replica.read(ID_CHARS));
        while (snapshot.indexOf(mark, snapshot.length() - ID_CHARS) < 0) {
            snapshot.append(replica.read(1));
        }
        snapshot.setLength(snapshot.length() - mark.length());
        assertThat(snapshot.toString()).startsWith("REDIS00");
        return snapshot.toString();
    }

    /** A line, without those that only say that the server is alive. */
    private static String line(RawClient replica) throws IOException {
        StringBuilder line = new StringBuilder();
        while (!line.toString().endsWith("\r\n")) {
            String next = replica.read(1);
            if (!line.isEmpty() || !next.equals("\n")) {
                line.append(next);
            }
        }
        return line.toString().strip();
    }

    private static String encoded(String... commands) {
        StringBuilder text = new StringBuilder();
        for (String command : commands) {
            text.append(new String(RawClient.encode(command.split(" ")), java.nio.charset.StandardCharsets.US_ASCII));
        }
        return text.toString();
    }

    /** Expects the next commands of the stream. */
    private static void expectStream(RawClient replica, String... commands) throws IOException {
        String expected = encoded(commands);
        assertThat(replica.read(expected.length())).isEqualTo(expected);
    }

    private void expect(String command, String reply) throws IOException {
        assertThat(client.command(command.split(" "))).as(command).isEqualTo(reply + "\r\n");
    }

    // --- full synchronization

    @Test
    void psync_sendsASnapshot_thenTheChanges() throws IOException {
        expect("SET before 1", "+OK");
        RawClient replica = introduce("capa eof capa psync2");
        ask(replica, "PSYNC", "?", "-1");
        readHead(replica);
        assertThat(readToMark(replica)).contains("before");
        expect("SET k 1", "+OK");
        assertThat(client.info("slave0")).startsWith("ip=127.0.0.1,port=7777,state=send_bulk,");
        ask(replica, "REPLCONF", "ACK", Long.toString(offset));
        expectStream(replica, "SELECT 0", "SET k 1");
        expect("SELECT 3", "+OK");
        expect("INCR n", ":1");
        expect("MULTI", "+OK");
        expect("SADD s a", "+QUEUED");
        expect("SPOP s 1", "+QUEUED");
        client.command("EXEC");
        expect("SADD t a", ":1");
        assertThat(client.command("SPOP", "t")).isEqualTo("$1\r\na\r\n");
        expect("DEL none", ":0");
        expect("DEL n", ":1");
        expectStream(replica, "SELECT 3", "INCR n", "MULTI", "SADD s a", "DEL s", "EXEC", "SADD t a",
                "SREM t a", "DEL n");
        assertThat(client.info("slave0")).startsWith("ip=127.0.0.1,port=7777,state=online,");
        assertThat(client.infoLong("connected_slaves")).isOne();
        assertThat(client.command("CLIENT", "LIST", "TYPE", "replica")).contains(" flags=S ").contains(" cmd=replconf");
        assertThat(client.command("ROLE")).contains("$9\r\n127.0.0.1\r\n$4\r\n7777\r\n");
    }

    @Test
    void psync_ofAReplicaThatNeedsTheLength_tellsIt() throws IOException {
        expect("SET before 1", "+OK");
        RawClient replica = introduce();
        ask(replica, "PSYNC", "?", "-1");
        readHead(replica);
        int length = Integer.parseInt(line(replica).substring(1));
        assertThat(replica.read(length)).startsWith("REDIS00").contains("before");
        expect("SET k 1", "+OK");
        expectStream(replica, "SELECT 0", "SET k 1");
    }

    @Test
    void sync_beginsWithTheSnapshot() throws IOException {
        RawClient replica = introduce();
        ask(replica, "SYNC");
        int length = Integer.parseInt(line(replica).substring(1));
        assertThat(replica.read(length)).startsWith("REDIS00");
        expect("SET k 1", "+OK");
        expectStream(replica, "SELECT 0", "SET k 1");
    }

    @Test
    void replconfRdbOnly_ofAReplicaThatNeedsTheLength_endsTheConnectionToo() throws IOException {
        RawClient replica = introduce("rdb-only 1");
        ask(replica, "PSYNC", "?", "-1");
        readHead(replica);
        String rest = line(replica);
        assertThat(replica.readToEnd()).hasSize(Integer.parseInt(rest.substring(1)));
    }

    @Test
    void replconfRdbOnly_endsTheConnectionAfterTheSnapshot() throws IOException {
        expect("SET before 1", "+OK");
        RawClient replica = introduce("capa eof", "rdb-only 1");
        ask(replica, "PSYNC", "?", "-1");
        readHead(replica);
        assertThat(readToMark(replica)).contains("before");
        assertThat(replica.readToEnd()).isEmpty();
    }

    @Test
    void manyReplicas_receiveTheSameStream() throws IOException {
        RawClient[] replicas = new RawClient[5];
        for (int i = 0; i < replicas.length; i++) {
            replicas[i] = introduce("capa eof");
            ask(replicas[i], "PSYNC", "?", "-1");
        }
        for (RawClient replica : replicas) {
            readSnapshot(replica);
        }
        while (client.infoLong("connected_slaves") < 5 || !client.info("slave4").contains("online")) {
            Polling.pause();
        }
        long start = client.infoLong("master_repl_offset");
        for (int i = 0; i < 1000; i++) {
            client.queue("SET", "key" + i, "x".repeat(i));
        }
        client.drain();
        int bytes = (int) (client.infoLong("master_repl_offset") - start);
        String first = replicas[0].read(bytes);
        assertThat(first).contains(encoded("SET key999 " + "x".repeat(999)));
        for (int i = 1; i < replicas.length; i++) {
            assertThat(replicas[i].read(bytes)).isEqualTo(first);
        }
    }

    // --- partial resynchronization

    @Test
    void psync_atAKnownOffset_continues() throws IOException {
        RawClient replica = introduce("capa eof");
        ask(replica, "PSYNC", "?", "-1");
        readSnapshot(replica);
        expect("SET k 1", "+OK");
        expectStream(replica, "SELECT 0", "SET k 1");
        long next = offset + encoded("SELECT 0", "SET k 1").length() + 1;
        replica.close();
        expect("SET k 2", "+OK");
        RawClient again = introduce("capa psync2");
        ask(again, "PSYNC", id, Long.toString(next));
        assertThat(line(again)).isEqualTo("+CONTINUE " + id);
        expectStream(again, "SET k 2");
        RawClient old = introduce();
        ask(old, "PSYNC", id, Long.toString(next));
        assertThat(line(old)).isEqualTo("+CONTINUE");
        expectStream(old, "SET k 2");
        assertThat(client.infoLong("sync_partial_ok")).isEqualTo(2);
    }

    @Test
    void psync_atAnUnknownOffsetOrHistory_sendsASnapshot() throws IOException {
        RawClient replica = introduce("capa eof");
        ask(replica, "PSYNC", "?", "-1");
        readSnapshot(replica);
        for (String[] unknown : new String[][] {{id, Long.toString(offset + 1000)}, {id, "-5"},
                {"0".repeat(ID_CHARS), Long.toString(offset + 1)}}) {
            RawClient other = introduce("capa eof");
            ask(other, "PSYNC", unknown[0], unknown[1]);
            readSnapshot(other);
        }
        assertThat(client.infoLong("sync_partial_err")).isEqualTo(3);
        assertThat(client.infoLong("sync_full")).isEqualTo(4);
    }

    /** The stream does not say that the data was replaced. */
    @Test
    void debugReload_endsTheHistory() throws IOException {
        RawClient replica = introduce("capa eof");
        ask(replica, "PSYNC", "?", "-1");
        readSnapshot(replica);
        String before = id;
        // The thread that has sent the snapshot may not have ended yet.
        while (!client.command("DEBUG", "RELOAD").equals("+OK\r\n")) {
            Polling.pause();
        }
        replica.readToEnd();
        RawClient again = introduce("capa eof");
        ask(again, "PSYNC", before, Long.toString(offset + 1));
        readSnapshot(again);
        assertThat(id).isNotEqualTo(before);
    }

    @Test
    void debugReloadThatFails_endsTheHistoryToo() throws IOException {
        RawClient replica = introduce("capa eof");
        ask(replica, "PSYNC", "?", "-1");
        readSnapshot(replica);
        String reply;
        do {
            // There is no file; at first, the thread that has sent the snapshot may not have ended yet.
            reply = client.command("DEBUG", "RELOAD", "NOSAVE");
        } while (reply.contains("already in progress"));
        assertThat(reply).startsWith("-ERR Error trying to load the RDB dump");
        assertThat(replica.readToEnd()).isEmpty();
    }

    // --- waiting for replicas

    @Test
    void wait_returnsWhenReplicasHaveAcknowledged() throws IOException {
        expect("WAIT 0 0", ":0");
        expect("WAIT 1 1", ":0");
        RawClient replica = introduce("capa eof");
        ask(replica, "PSYNC", "?", "-1");
        readSnapshot(replica);
        expect("SET k 1", "+OK");
        expectStream(replica, "SELECT 0", "SET k 1");
        ask(client, "WAIT", "1", "0");
        expectStream(replica, "REPLCONF GETACK *");
        assertThat(client.isAnswered()).isFalse();
        long acknowledged = offset + encoded("SELECT 0", "SET k 1").length();
        ask(replica, "REPLCONF", "ACK", Long.toString(acknowledged - 1));
        assertThat(open().command("PING")).isEqualTo("+PONG\r\n");
        assertThat(client.isAnswered()).isFalse();
        ask(replica, "REPLCONF", "ACK", Long.toString(acknowledged));
        assertThat(client.reply()).isEqualTo(":1\r\n");
        expect("WAIT 2 1", ":1");
        expect("WAIT x 1", "-ERR value is not an integer or out of range");
    }

    @Test
    void waitaof_returnsWhenTheChangesAreOnDisk() throws IOException {
        expect("WAITAOF 1 0 0", "-ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.");
        expect("WAITAOF 2 0 0", "-ERR value is out of range, value must between 0 and 1");
        expect("WAITAOF 0 -1 0", "-ERR value is out of range, must be positive");
        expect("WAITAOF 0 0 -1", "-ERR timeout is negative");
        expect("WAITAOF 0 0 0", "*2\r\n:0\r\n:0");
        assertThat(client.command("CONFIG", "SET", "appendonly", "yes")).isEqualTo("+OK\r\n");
        awaitBase();
        RawClient replica = introduce("capa eof");
        ask(replica, "PSYNC", "?", "-1");
        readSnapshot(replica);
        expect("SET k 1", "+OK");
        expect("WAITAOF 1 0 0", "*2\r\n:1\r\n:0");
        expectStream(replica, "SELECT 0", "SET k 1");
        long acknowledged = offset + encoded("SELECT 0", "SET k 1").length();
        ask(client, "WAITAOF", "1", "1", "0");
        expectStream(replica, "REPLCONF GETACK *");
        ask(replica, "REPLCONF", "ACK", Long.toString(acknowledged), "FACK", Long.toString(acknowledged - 1));
        assertThat(open().command("PING")).isEqualTo("+PONG\r\n");
        assertThat(client.isAnswered()).isFalse();
        ask(replica, "REPLCONF", "ACK", Long.toString(acknowledged), "FACK", Long.toString(acknowledged));
        assertThat(client.reply()).isEqualTo("*2\r\n:1\r\n:1\r\n");
        expect("WAITAOF 1 2 1", "*2\r\n:1\r\n:1");
    }

    /** A start would not find the change before the first base is there, and the thread that writes it is busy. */
    @Test
    void waitaofBeforeTheFirstBase_waits() throws IOException {
        client.setKeys("key", 200_000, "a value of some bytes that makes the snapshot too large for buffers");
        RawClient replica = introduce("capa eof");
        ask(replica, "PSYNC", "?", "-1");
        readHead(replica);
        expect("SET k 1", "+OK");
        assertThat(client.command("CONFIG", "SET", "appendonly", "yes")).isEqualTo("+OK\r\n");
        expect("WAITAOF 1 0 50", "*2\r\n:0\r\n:0");
        ask(client, "WAITAOF", "1", "0", "0");
        readToMark(replica);
        assertThat(client.reply()).isEqualTo("*2\r\n:1\r\n:0\r\n");
    }

    /** With {@code appendfsync no} nothing is forced until the log ends. */
    @Test
    void waitaofWhileTheLogIsTurnedOff_ends() throws IOException {
        assertThat(client.command("CONFIG", "SET", "appendonly", "yes", "appendfsync", "no")).isEqualTo("+OK\r\n");
        awaitBase();
        expect("SET k 1", "+OK");
        ask(client, "WAITAOF", "1", "0", "0");
        RawClient other = open();
        while (other.infoLong("blocked_clients") == 0) {
            Polling.pause();
        }
        assertThat(other.command("CONFIG", "SET", "appendonly", "no")).isEqualTo("+OK\r\n");
        assertThat(client.reply()).startsWith("*2\r\n");
    }

    @Test
    void writesAreRefused_withoutEnoughReplicas() throws IOException {
        expect("CONFIG SET min-replicas-to-write 1", "+OK");
        expect("SET k 1", "-NOREPLICAS Not enough good replicas to write.");
        expect("GET k", "$-1");
        RawClient replica = introduce("capa eof");
        ask(replica, "PSYNC", "?", "-1");
        readSnapshot(replica);
        while (client.infoLong("min_slaves_good_slaves") < 1) {
            Polling.pause();
        }
        expect("SET k 1", "+OK");
        replica.close();
        while (client.infoLong("connected_slaves") > 0) {
            Polling.pause();
        }
        expect("SET k 2", "-NOREPLICAS Not enough good replicas to write.");
    }

    /** Replicas that read slowly still say how far they are. */
    @Test
    void aReplicaThatIsBehind_isHeard() throws IOException {
        RawClient replica = introduce("capa eof");
        ask(replica, "PSYNC", "?", "-1");
        readSnapshot(replica);
        String value = "x".repeat(1 << 20);
        for (int i = 0; i < 20; i++) {
            expect("SET k " + value, "+OK");
        }
        long end = client.infoLong("master_repl_offset");
        ask(replica, "REPLCONF", "ACK", Long.toString(end));
        assertThat(client.command("WAIT", "1", "0")).isEqualTo(":1\r\n");
    }

    // --- with the log

    @Test
    void aLogThatIsTurnedOnWhileASnapshotIsSent_holdsNobody() throws IOException {
        client.setKeys("key", 200_000, "a value of some bytes that makes the snapshot too large for buffers");
        RawClient first = introduce("capa eof");
        ask(first, "PSYNC", "?", "-1");
        readHead(first);
        assertThat(client.command("CONFIG", "SET", "appendfsync", "always")).isEqualTo("+OK\r\n");
        expect("SET k 1", "+OK");
        assertThat(client.command("CONFIG", "SET", "appendonly", "yes")).isEqualTo("+OK\r\n");
        expect("SET k 2", "+OK");
        expect("GET k", "$1\r\n2");
        readToMark(first);
        ask(first, "REPLCONF", "ACK", Long.toString(offset));
        expectStream(first, "SELECT 0", "SET k 1", "SET k 2");
        awaitBase();
        expect("SET k 3", "+OK");
        assertThat(client.command("CONFIG", "SET", "appendonly", "no")).isEqualTo("+OK\r\n");
        expect("SET k 4", "+OK");
        expectStream(first, "SELECT 0", "SET k 3", "SET k 4");
    }

    /** Waits until the log has its first base, and can be turned off again. */
    private void awaitBase() throws IOException {
        while (client.infoLong("aof_base_size") == 0 || client.infoLong("aof_rewrite_in_progress") == 1) {
            Polling.pause();
        }
    }

    // --- what goes wrong

    @Test
    void malformedRequests_areErrors() throws IOException {
        expect("PSYNC ? x", "-ERR value is not an integer or out of range");
        expect("REPLCONF listening-port", "-ERR syntax error");
        expect("REPLCONF listening-port x", "-ERR value is not an integer or out of range");
        expect("REPLCONF nonsense 1", "-ERR Unrecognized REPLCONF option: nonsense");
        expect("REPLCONF rdb-filter-only functions", "-ERR Unrecognized REPLCONF option: rdb-filter-only");
        assertThat(client.command("REPLCONF", "rdb-filter-only", "")).isEqualTo("+OK\r\n");
        // Nobody has asked.
        ask(client, "REPLCONF", "ACK", "1");
        expect("PING", "+PONG");
    }

    /** The stream is kept for a replica that does not read, up to the limit of its class. */
    @Test
    void aReplicaThatDoesNotRead_isDisconnected() throws IOException {
        expect("CONFIG SET client-output-buffer-limit", "-ERR wrong number of arguments for 'config|set' command");
        assertThat(client.command("CONFIG", "SET", "client-output-buffer-limit", "replica 4mb 0 0"))
                .isEqualTo("+OK\r\n");
        RawClient replica = introduce("capa eof");
        ask(replica, "PSYNC", "?", "-1");
        readSnapshot(replica);
        String value = "x".repeat(100_000);
        while (client.infoLong("connected_slaves") > 0) {
            for (int i = 0; i < 20; i++) {
                client.queue("SET", "k", value);
            }
            client.drain();
        }
        while (client.infoLong("mem_replication_backlog") > 4 << 20) {
            expect("SET k 1", "+OK");
            client.queue("SET", "k", value);
            client.drain();
        }
        assertThat(client.info("role")).isEqualTo("master");
    }

    @Test
    void aReplicaThatDisconnectsDuringTheSnapshot_endsIt() throws IOException {
        client.setKeys("key", 200_000, "a value of some bytes that makes the snapshot too large for buffers");
        RawClient replica = introduce("capa eof");
        ask(replica, "PSYNC", "?", "-1");
        readHead(replica);
        replica.close();
        while (client.infoLong("connected_slaves") > 0) {
            Polling.pause();
        }
        // The thread that saves snapshots is free again.
        while (!client.command("SAVE").equals("+OK\r\n")) {
            Polling.pause();
        }
    }

    /** A flush ends the scan, and what was sent is void. */
    @Test
    void flushDuringTheSnapshot_makesTheReplicaAskAgain() throws IOException {
        client.setKeys("key", 200_000, "a value of some bytes that makes the snapshot too large for buffers");
        RawClient replica = introduce("capa eof");
        ask(replica, "PSYNC", "?", "-1");
        readHead(replica);
        expect("FLUSHALL", "+OK");
        replica.readToEnd();
        RawClient again = introduce("capa eof");
        ask(again, "PSYNC", "?", "-1");
        readSnapshot(again);
        expect("SET k 1", "+OK");
        expectStream(again, "SELECT 0", "SET k 1");
    }
}
