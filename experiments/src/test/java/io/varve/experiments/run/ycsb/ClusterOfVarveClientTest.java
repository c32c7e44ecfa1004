package io.varve.experiments.run.ycsb;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;

import io.lettuce.core.cluster.SlotHash;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.map.SlotRange;
import io.varve.server.VarveServer;
import io.varve.server.clustering.ClusterState;
import io.varve.server.config.ServerConfig;
import io.varve.ycsb.VarveClient;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;

import static org.assertj.core.api.Assertions.assertThat;

/** The YCSB binding on a cluster of three Varve servers with users. Confined to the test's thread. */
@Timeout(120)
class ClusterOfVarveClientTest {
    private static final String HOST = "127.0.0.1";
    private static final int MEMBERS = 3;
    private static final int RECORDS = 60;

    @TempDir
    Path folder;
    private final List<VarveServer> servers = new ArrayList<>();

    @BeforeEach
    void start() throws IOException {
        Path users = Files.writeString(folder.resolve("users.acl"),
                "user default off\nuser bench on >sesame ~* +@all\n");
        for (int i = 0; i < MEMBERS; i++) {
            servers.add(VarveServer.start(ServerConfig.defaults().with("port", "0").with("maxmemory", "64mb")
                    .with("cluster-enabled", "yes").with("aclfile", users.toString())
                    .with("dir", Files.createDirectories(folder.resolve("member" + i)).toString()).validate()));
        }
        SlotMap.Builder map = new SlotMap.Builder();
        for (int i = 0; i < MEMBERS; i++) {
            map.member(new Member(id(i), HOST, servers.get(i).port(), 1, null));
            map.owner(new SlotRange(SlotHash.SLOT_COUNT * i / MEMBERS, SlotHash.SLOT_COUNT * (i + 1) / MEMBERS - 1),
                    id(i));
        }
        install(map.build(1));
    }

    @AfterEach
    void stop() {
        servers.forEach(VarveServer::close);
    }

    private ClusterState state(int member) {
        return Objects.requireNonNull(servers.get(member).cluster());
    }

    private String id(int member) {
        return state(member).view().me().id();
    }

    private void install(SlotMap map) {
        for (int i = MEMBERS - 1; i >= 0; i--) {
            state(i).install(map, true);
        }
    }

    @Test
    void recordsAreDividedAndAMovedSlotIsFollowed() throws DBException {
        Properties properties = new Properties();
        properties.setProperty("varve.host", HOST);
        properties.setProperty("varve.port", Integer.toString(servers.get(0).port()));
        properties.setProperty("varve.cluster", "true");
        properties.setProperty("varve.user", "bench");
        properties.setProperty("varve.password", "sesame");
        properties.setProperty("varve.record", "string");
        properties.setProperty("fieldcount", "1");
        VarveClient client = new VarveClient();
        client.setProperties(properties);
        client.init();
        writeAndReadAll(client, "a");
        SlotMap before = state(0).view().map();
        Member last = Objects.requireNonNull(before.member(id(MEMBERS - 1)));
        SlotMap.Builder moved = before.toBuilder();
        for (SlotRange slots : before.slots(Objects.requireNonNull(before.member(id(0))))) {
            moved.owner(slots, last.id());
        }
        install(moved.build(2));
        writeAndReadAll(client, "b");
        client.cleanup();
    }

    private static void writeAndReadAll(VarveClient client, String value) {
        for (int i = 0; i < RECORDS; i++) {
            Map<String, ByteIterator> values = new HashMap<>(Map.of("field0", new StringByteIterator(value + i)));
            assertThat(client.insert("t", "user" + i, values)).isEqualTo(Status.OK);
        }
        for (int i = 0; i < RECORDS; i++) {
            Map<String, ByteIterator> result = new HashMap<>();
            assertThat(client.read("t", "user" + i, null, result)).isEqualTo(Status.OK);
            assertThat(result.get("field0")).hasToString(value + i);
        }
    }
}
