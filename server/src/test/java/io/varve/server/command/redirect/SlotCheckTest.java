package io.varve.server.command.redirect;

import java.nio.file.Path;
import java.util.BitSet;
import java.util.Objects;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.server.clustering.ClusterState;
import io.varve.server.command.CommandHarness;
import io.varve.server.command.batch.Batch;
import io.varve.server.command.session.ParkedCommand;
import io.varve.server.config.ServerConfig;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests commands for a slot that leaves this member. Its new owner may serve it already, so a command that runs here is
 * lost. Confined to the test's thread.
 */
class SlotCheckTest {
    private static final String KEY = "key";
    private static final int SLOT = HashSlot.of(KEY.getBytes(UTF_8));
    private static final Member OTHER = new Member("b".repeat(40), "127.0.0.2", 7000, 1, null);
    private static final String MOVED = "MOVED " + SLOT + " 127.0.0.2:7000";

    @TempDir
    Path folder;

    private CommandHarness harness;
    private ClusterState cluster;
    private SlotCheck check;

    @BeforeEach
    void open() {
        ServerConfig config = ServerConfig.defaults().with("maxmemory", "64mb").with("shards", "4")
                .with("cluster-enabled", "yes").with("cluster-require-full-coverage", "no")
                .with("dir", folder.toString());
        harness = new CommandHarness(config);
        cluster = Objects.requireNonNull(harness.server().cluster());
        cluster.change(local -> local.own(SLOT));
        check = new SlotCheck(cluster, harness.cache().newSession());
    }

    @AfterEach
    void close() {
        cluster.close();
        harness.close();
    }

    private static BitSet slots() {
        BitSet slots = new BitSet();
        slots.set(SLOT);
        return slots;
    }

    private void hold() {
        cluster.holds().hold(slots());
    }

    private void release() {
        cluster.holds().release(slots());
    }

    private void moveAway() {
        cluster.change(local -> {
            local.member(OTHER);
            local.owner(SLOT, OTHER.id());
        });
    }

    private Batch set() {
        harness.begin();
        harness.add("SET", KEY, "1");
        return harness.prepare();
    }

    private @Nullable String refusal(Batch batch) {
        return check.refusal(batch, 0, Objects.requireNonNull(batch.spec(0)), harness.client(), null);
    }

    private @Nullable String refusalUnderLocks(Batch batch) {
        return check.refusalUnderLocks(batch, 0, Objects.requireNonNull(batch.spec(0)), harness.client(), null);
    }

    @Test
    void ownSlot_isServed_andWaitsWhileItIsHeld() {
        Batch batch = set();
        assertThat(refusal(batch)).isNull();
        assertThat(check.isCurrent()).isTrue();
        assertThat(check.isHeld()).isFalse();
        hold();
        assertThat(check.isHeld()).isTrue();
        assertThat(refusal(batch)).isNull();
        assertThat(check.isHeld()).isTrue();
        release();
        assertThat(check.isHeld()).isFalse();
        assertThat(refusalUnderLocks(batch)).isNull();
        assertThat(check.isCurrent()).isTrue();
    }

    @Test
    void slotThatHasLeft_isRedirected_onceItIsReleased() {
        Batch batch = set();
        hold();
        moveAway();
        assertThat(refusal(batch)).isNull();
        assertThat(check.isHeld()).isTrue();
        ParkedCommand wait = check.awaitRelease();
        boolean[] woken = new boolean[1];
        wait.onAnswer(() -> woken[0] = true);
        assertThat(woken[0]).isFalse();
        release();
        assertThat(woken[0]).isTrue();
        assertThat(refusal(batch)).isEqualTo(MOVED);
    }

    /** The release comes between the check and the run. */
    @Test
    void slotThatHasLeft_isNotServed_ifItIsReleasedAfterTheCheck() {
        Batch batch = set();
        hold();
        moveAway();
        assertThat(refusal(batch)).isNull();
        release();
        assertThat(check.isHeld()).as("waits, and is checked again").isTrue();
        assertThat(check.isCurrent()).isFalse();
        boolean[] woken = new boolean[1];
        check.awaitRelease().onAnswer(() -> woken[0] = true);
        assertThat(woken[0]).as("at once").isTrue();
        assertThat(refusalUnderLocks(batch)).isEqualTo(MOVED);
        assertThat(check.isHeld()).isFalse();
    }

    /** As above, under the locks of the shards: a hold ends without them. */
    @Test
    void slotThatHasLeft_isNotServed_ifItIsReleasedAfterTheCheckUnderLocks() {
        Batch batch = set();
        assertThat(refusal(batch)).isNull();
        hold();
        moveAway();
        assertThat(check.isCurrent()).isFalse();
        assertThat(refusalUnderLocks(batch)).isNull();
        release();
        assertThat(check.isHeld()).as("waits, and is checked again").isTrue();
        assertThat(refusal(batch)).isEqualTo(MOVED);
    }
}
