package io.varve.server.command.redirect;

import java.nio.file.Path;
import java.util.Objects;
import java.util.function.Consumer;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.map.SlotRange;
import io.varve.server.clustering.ClusterState;
import io.varve.server.command.CommandHarness;
import io.varve.server.config.ServerConfig;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/** Tests commands at a member of a cluster with controllers, which the test plays. Confined to the test's thread. */
class ControlledMemberTest {
    private static final String KEY = "key";
    private static final int SLOT = HashSlot.of(KEY.getBytes(UTF_8));
    private static final String OTHER = "b".repeat(40);
    private static final SlotRange ALL = new SlotRange(0, HashSlot.COUNT - 1);

    @TempDir
    Path folder;

    private CommandHarness harness;
    private ClusterState cluster;
    private String id;
    private SlotMap map = SlotMap.EMPTY;

    @BeforeEach
    void open() {
        harness = new CommandHarness(ServerConfig.defaults().with("maxmemory", "64mb").with("shards", "4")
                .with("cluster-enabled", "yes").with("cluster-controllers", "127.0.0.1:1")
                .with("dir", folder.toString()));
        cluster = Objects.requireNonNull(harness.server().cluster());
        id = cluster.view().me().id();
    }

    @AfterEach
    void close() {
        cluster.close();
        harness.close();
    }

    private Member me(@Nullable String primaryId) {
        return new Member(id, "127.0.0.1", 1, 1, primaryId);
    }

    private void install(Consumer<SlotMap.Builder> edit) {
        SlotMap.Builder next = map.toBuilder();
        edit.accept(next);
        map = next.build(map.epoch() + 1);
        cluster.install(map, true);
    }

    /** This member is a primary, and the other one owns all slots. */
    private void join() {
        install(next -> next.member(me(null)).member(new Member(OTHER, "127.0.0.2", 7000, 1, null)).owner(ALL, OTHER));
    }

    private void receiveCopy() {
        install(next -> next.member(me(null)).member(new Member(OTHER, "127.0.0.2", 7000, 1, null)).owner(ALL, id));
        harness.run("SET", KEY, "old");
        String payload = harness.run("DUMP", KEY);
        payload = payload.substring(payload.indexOf('\n') + 1, payload.length() - 2);
        harness.run("DEL", KEY);
        join();
        assertThat(harness.run("VARVE.COPYLEASE", OTHER)).startsWith("*1");
        assertThat(harness.run("VARVE.COPY", KEY, OTHER, "0", payload)).isEqualTo("+OK\r\n");
        assertThat(cluster.copies().count()).isOne();
    }

    private String beginToImport(int slot) {
        return harness.run("CLUSTER", "SETSLOT", Integer.toString(slot), "IMPORTING", OTHER,
                Long.toString(map.epoch()), "1", Integer.toString(slot));
    }

    /**
     * The copy is forgotten while its key stays, because the slot is importing by then. The source has to delete the
     * key: it may have been deleted there.
     */
    @Test
    void slotOfACopyThatWasForgotten_isNotEmpty() {
        receiveCopy();
        int other = (SLOT + 1) % HashSlot.COUNT;
        install(next -> next.target(SLOT, id).target(other, id));
        cluster.imports().knowEmpty(SLOT);
        cluster.imports().knowEmpty(other);
        assertThat(harness.run("VARVE.UNCOPY", KEY, OTHER)).isEqualTo("+OK\r\n");
        assertThat(cluster.copies().count()).isZero();
        assertThat(harness.run("DBSIZE")).as("it may be more than a copy").isEqualTo(":1\r\n");
        assertThat(beginToImport(SLOT)).isEqualTo("+OK\r\n");
        assertThat(beginToImport(other)).isEqualTo("+EMPTY\r\n");
    }

    /** The map comes before the role: what it flushed would come back. */
    @Test
    void memberThatTheMapMakesAReplica_flushesNothing() {
        install(next -> next.member(me(null)).member(new Member(OTHER, "127.0.0.2", 7000, 1, null)).owner(ALL, id));
        assertThat(harness.run("SET", KEY, "1")).isEqualTo("+OK\r\n");
        install(next -> next.owner(ALL, OTHER).member(me(OTHER)));
        for (String flush : new String[] {"FLUSHALL", "FLUSHDB"}) {
            assertThat(harness.run(flush)).startsWith("-READONLY ");
        }
        assertThat(harness.run("DBSIZE")).isEqualTo(":1\r\n");
        install(next -> next.member(me(null)).owner(ALL, id));
        assertThat(harness.run("FLUSHALL")).isEqualTo("+OK\r\n");
    }
}
