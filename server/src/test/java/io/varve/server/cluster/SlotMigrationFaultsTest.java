package io.varve.server.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.SlotRange;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests migrations whose members stop in the middle. Confined to the test's thread. */
class SlotMigrationFaultsTest {
    private static final Duration WITHIN = Duration.ofSeconds(60);
    private static final int KEYS = 500;
    private static final int SLOT = HashSlot.of("b".getBytes(UTF_8));
    private static final SlotRange SLOT_ONLY = new SlotRange(SLOT, SLOT);

    /** Watches the log for errors and leaks. */
    @RegisterExtension
    static final ServerExtension log = ServerExtension.withoutServer();

    @TempDir
    Path folder;

    /** A cluster of two that has copied a part of a slot. */
    private ControlledCluster startSlowly() throws IOException {
        ControlledCluster cluster = ControlledCluster.start(folder, 2, 0, "appendonly yes",
                "cluster-migration-max-bytes-per-second 2000");
        try (RawClient client = new RawClient(cluster.port(0))) {
            client.setKeys("{b}", KEYS, "value");
        }
        cluster.beginMigration(SLOT_ONLY, 1);
        await().atMost(WITHIN).until(() -> cluster.keys(1) > 10);
        return cluster;
    }

    private static void hurry(ControlledCluster cluster) throws IOException {
        assertThat(cluster.call(0, "CONFIG", "SET", "cluster-migration-max-bytes-per-second", "0").text())
                .isEqualTo("OK");
    }

    private static void awaitMoved(ControlledCluster cluster, int keys) throws IOException {
        await().atMost(WITHIN).until(() -> cluster.owner(SLOT) == 1 && cluster.keys(0) == 0);
        assertThat(cluster.keys(1)).isEqualTo(keys);
        assertThat(cluster.call(1, "GET", "{b}7").text()).isEqualTo("value7");
    }

    @Test
    void afterTheReceiverHasStartedAgain_theMigrationBeginsAnew() throws IOException {
        try (ControlledCluster cluster = startSlowly()) {
            cluster.stop(1);
            await().atMost(WITHIN).until(() -> cluster.state(0).migrations().failures() > 0);
            assertThat(cluster.call(0, "DEL", "{b}0").integer()).isOne();
            assertThat(cluster.call(0, "GET", "{b}7").text()).isEqualTo("value7");
            hurry(cluster);
            cluster.restart(1);
            awaitMoved(cluster, KEYS - 1);
        }
    }

    @Test
    void afterTheSourceHasStartedAgain_theMigrationBeginsAnew() throws IOException {
        try (ControlledCluster cluster = startSlowly()) {
            cluster.stop(0);
            // Not at the receiver, which has a part of the keys.
            assertThat(cluster.call(1, "GET", "{b}0").text()).startsWith("MOVED ");
            cluster.restart(0);
            assertThat(cluster.call(0, "DEL", "{b}0").integer()).isOne();
            hurry(cluster);
            awaitMoved(cluster, KEYS - 1);
        }
    }

    /** The controllers have answered, and the source has not heard of it. */
    @Test
    void aSourceThatStopsBeforeTheAnswer_deletesWhatHasMoved() throws IOException {
        try (ControlledCluster cluster = startSlowly()) {
            CountDownLatch answer = new CountDownLatch(1);
            cluster.gate(() -> {
                answer.await();
                return true;
            });
            hurry(cluster);
            await().atMost(WITHIN).until(() -> cluster.state(0).holds().isHeld(SLOT));
            cluster.stop(0);
            answer.countDown();
            cluster.gate(() -> true);
            cluster.restart(0);
            hurry(cluster);
            awaitMoved(cluster, KEYS);
            cluster.stop(0);
            cluster.restart(0);
            await().atMost(WITHIN).until(() -> cluster.keys(0) == 0);
        }
    }

    @Test
    void aReceiverThatStartsAgainBeforeTheAnswer_isRefused() throws IOException {
        try (ControlledCluster cluster = startSlowly()) {
            CountDownLatch answer = new CountDownLatch(1);
            cluster.gate(() -> {
                answer.await();
                return true;
            });
            hurry(cluster);
            await().atMost(WITHIN).until(() -> cluster.state(0).holds().isHeld(SLOT));
            cluster.stop(1);
            cluster.restart(1);
            long failures = cluster.state(0).migrations().failures();
            answer.countDown();
            await().atMost(WITHIN).until(() -> cluster.state(0).migrations().failures() > failures);
            awaitMoved(cluster, KEYS);
        }
    }

    /** A deletion that was interrupted goes on at the start. */
    @Test
    void keysOfSlotsThatWereLostMeanwhile_areDeletedAtTheStart() throws IOException {
        try (ControlledCluster cluster = ControlledCluster.start(folder, 2, 0, "appendonly yes")) {
            try (RawClient client = new RawClient(cluster.port(0))) {
                client.setKeys("{b}", KEYS, "value");
            }
            cluster.stop(0);
            cluster.assign(SLOT_ONLY, 1);
            cluster.restart(0);
            await().atMost(WITHIN).until(() -> cluster.keys(0) == 0);
            cluster.assign(SLOT_ONLY, 0);
            assertThat(cluster.call(0, "GET", "{b}7").isNull()).isTrue();
        }
    }

    @Test
    void keysOfSlotsWithoutAnOwner_stay() throws IOException {
        try (ControlledCluster cluster = ControlledCluster.start(folder, 2, 0, "appendonly yes")) {
            try (RawClient client = new RawClient(cluster.port(0))) {
                client.setKeys("{b}", KEYS, "value");
                assertThat(client.call("SET", "c", "1").text()).isEqualTo("OK");
            }
            cluster.stop(0);
            cluster.assign(SLOT_ONLY, -1);
            int slot = HashSlot.of("c".getBytes(UTF_8));
            cluster.assign(new SlotRange(slot, slot), 1);
            cluster.restart(0);
            await().atMost(WITHIN).until(() -> cluster.keys(0) == KEYS);
        }
    }

    /** What a stopped source has sent earlier must not replace what its successor has sent, or clients have written. */
    @Test
    void lateCommandsOfAnEarlierAttempt_areRefused() throws IOException {
        try (ControlledCluster cluster = startSlowly(); RawClient late = new RawClient(cluster.port(1))) {
            assertThat(late.call("RESTORE-ASKING", "{b}0", "0", "x", "REPLACE").text())
                    .isEqualTo("ERR This member does not import the hash slot on this connection");
            String source = cluster.id(0);
            String slot = Integer.toString(SLOT);
            assertThat(late.call("CLUSTER", "SETSLOT", slot, "IMPORTING", source, "2", "1", "0").text())
                    .isEqualTo("ERR A later attempt imports hash slot " + SLOT);
            assertThat(late.call("CLUSTER", "SETSLOT", slot, "IMPORTING", cluster.id(1), "2", "1", "99").text())
                    .startsWith("ERR This member does not import hash slot");
            assertThat(late.call("CLUSTER", "SETSLOT", slot, "IMPORTING", source, "3", "1", "2").text())
                    .startsWith("ERR This member does not import hash slot");
            assertThat(late.call("CLUSTER", "SETSLOT", slot, "IMPORTING", source, "2", "1", "2").text())
                    .isEqualTo("OK");
            // The source notices, and begins anew.
            await().atMost(WITHIN).until(() -> cluster.state(0).migrations().failures() > 0);
            hurry(cluster);
            await().atMost(WITHIN).until(() -> cluster.owner(SLOT) == 1);
            assertThat(late.call("ASKING").text()).isEqualTo("OK");
            assertThat(late.call("DEL", "{b}7").text()).startsWith("ERR This member does not import");
            awaitMoved(cluster, KEYS);
        }
    }

    @Test
    void withoutAReplicaOfTheReceiver_thatTheMapHas_theSlotStays() throws IOException {
        try (ControlledCluster cluster = ControlledCluster.start(folder, 2, 1)) {
            try (RawClient client = new RawClient(cluster.port(0))) {
                client.setKeys("{b}", KEYS, "value");
            }
            await().atMost(WITHIN).until(() -> cluster.call(1, "INFO", "replication").text().contains("state=online"));
            cluster.stop(2);
            await().atMost(WITHIN).until(() -> !cluster.call(1, "INFO", "replication").text().contains("state=online"));
            cluster.beginMigration(SLOT_ONLY, 1);
            await().atMost(WITHIN).until(() -> cluster.state(0).migrations().lastFailure().contains("no replica"));
            assertThat(cluster.call(0, "GET", "{b}7").text()).isEqualTo("value7");
            cluster.restart(2);
            awaitMoved(cluster, KEYS);
        }
    }
}
