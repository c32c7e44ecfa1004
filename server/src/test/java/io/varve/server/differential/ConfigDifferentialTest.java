package io.varve.server.differential;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.varve.server.VarveServer;
import io.varve.server.config.ConfigReader;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ReferenceRedis;
import io.varve.server.testing.ServerExtension;
import io.varve.server.testing.StubCache;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/** Compares CONFIG of Varve and of a real Redis: names, values and errors are equal. Confined to the test's thread. */
class ConfigDifferentialTest {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    private static final List<String> LINES = List.of("CONFIG SET daemonize yes", "CONFIG SET cluster-enabled yes",
            "CONFIG SET appendfilename x", "CONFIG SET appenddirname x", "CONFIG SET logfile x", "CONFIG SET pidfile x",
            "CONFIG SET unixsocket x", "CONFIG SET unixsocketperm 700", "CONFIG SET supervised auto",
            "CONFIG SET databases 8", "CONFIG SET slaveof \"127.0.0.1 1\"", "CONFIG SET replicaof \"127.0.0.1 1\"",
            "CONFIG SET SLAVEOF no", "CONFIG SET syslog-enabled yes", "CONFIG SET aclfile x",
            "CONFIG SET rdbchecksum no", "CONFIG SET set-proc-title no", "CONFIG SET timeout 1 daemonize yes",
            "CONFIG SET maxmemory-clients 200%", "CONFIG SET maxmemory-clients 101%",
            "CONFIG SET maxmemory-clients -5%", "CONFIG SET maxmemory-clients x%", "CONFIG SET maxmemory-clients x",
            "CONFIG SET maxmemory-clients 5%", "CONFIG GET maxmemory-clients", "CONFIG SET maxmemory-clients 0",
            "CONFIG SET slave-priority 5", "CONFIG GET slave-priority", "CONFIG GET replica-priority",
            "CONFIG GET Slave-Priority REPLICA-priority", "CONFIG SET slave-priority -1",
            "CONFIG SET slave-priority 1 replica-priority 2", "CONFIG GET replica-priority",
            "CONFIG SET min-slaves-max-lag 20", "CONFIG GET min-*-max-lag", "CONFIG SET min-slaves-max-lag 10",
            "CONFIG GET slave*", "CONFIG GET slaveof replicaof", "CONFIG GET cluster-slave*",
            "CONFIG SET cluster-slave-no-failover yes", "CONFIG GET cluster-replica-no-failover",
            "CONFIG SET cluster-slave-no-failover no", "CONFIG SET cluster-slave-validity-factor x",
            "CONFIG GET cluster-preferred-endpoint-type", "CONFIG SET cluster-preferred-endpoint-type nosuch",
            "CONFIG GET repl-ping-slave-period", "CONFIG SET repl-ping-slave-period 0",
            "CONFIG GET repl-disable-tcp-nodelay", "CONFIG GET key-load-delay", "CONFIG GET key-load*",
            "CONFIG GET use-exit-on-pani?", "CONFIG GET lua-time-limit busy-reply-threshold",
            "CONFIG GET masterauth appendfilename appenddirname save appendonly", "CONFIG SET timeout x",
            "CONFIG SET TIMEOUT x", "CONFIG SET timeout 1 hz x", "CONFIG SET timeout 1 timeout 2",
            "CONFIG SET Timeout 1 timeout 2", "CONFIG SET timeout 1 nosuch 2", "CONFIG SET NoSuch 2",
            "CONFIG GET timeout", "CONFIG SET port 99999", "CONFIG SET port -1", "CONFIG SET port x",
            "CONFIG SET bind 192.0.2.77", "CONFIG SET bind \"192.0.2.77 192.0.2.78\" timeout 7",
            "CONFIG SET bind \"1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\"", "CONFIG GET timeout",
            "CONFIG SET save \"a b\"", "CONFIG SET save \"1\"", "CONFIG SET save \"\"", "CONFIG GET save",
            "CONFIG SET appendonly maybe", "CONFIG SET appendonly no", "CONFIG SET min-slaves-to-write x",
            "CONFIG SET min-slaves-to-write 0", "CONFIG SET active-expire-effort 11",
            "CONFIG SET lfu-decay-time -1", "CONFIG SET oom-score-adj nosuch", "CONFIG SET appendfsync nosuch",
            "CONFIG SET repl-backlog-size 0", "CONFIG SET replica-announce-port 65536",
            "CONFIG SET stream-node-max-bytes -1");

    @Test
    void namesValuesAndErrorsAreThoseOfRedis() throws Exception {
        ServerConfig config = ServerExtension.config("maxmemory 64mb", "io-threads 1");
        try (ReferenceRedis redis = ReferenceRedis.start();
                VarveServer server = servers.start(config, StubCache.create(config.cacheConfig()));
                ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                RawClient theirs = new RawClient(redis.port());
                RawClient ours = new RawClient(server.port())) {
            System.out.println("Compared with " + redis);
            List<String> lines = new ArrayList<>(LINES);
            lines.add("CONFIG SET timeout 9 port " + taken.getLocalPort());
            lines.add("CONFIG GET timeout");
            List<String> differences = new ArrayList<>();
            for (String line : lines) {
                String expected = answer(theirs, line);
                String actual = answer(ours, line);
                if (!actual.equals(expected)) {
                    differences.add(line + "\n  Redis " + expected + "\n  Varve " + actual);
                }
            }
            assertThat(differences).isEmpty();
        }
    }

    /** Names and values come in any order. */
    private static String answer(RawClient client, String line) throws IOException {
        String[] words = java.util.Objects.requireNonNull(ConfigReader.split(line)).toArray(String[]::new);
        RawReply reply = client.call(words);
        if (!reply.isAggregate()) {
            return reply.text();
        }
        Map<String, String> values = new TreeMap<>();
        for (int i = 0; i < reply.elements().size(); i += 2) {
            values.put(reply.elements().get(i).text(), reply.elements().get(i + 1).text());
        }
        return values.toString();
    }
}
