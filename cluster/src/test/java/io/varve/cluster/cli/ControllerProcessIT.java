package io.varve.cluster.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.varve.cluster.client.ControllerClient;
import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.SlotRange;
import io.varve.cluster.protocol.ClusterView;
import io.varve.cluster.protocol.Command;
import io.varve.cluster.protocol.ControllerAddress;
import io.varve.cluster.protocol.ControllerGroup;
import io.varve.cluster.protocol.HeartbeatReply;
import io.varve.cluster.protocol.Query;
import io.varve.cluster.protocol.QueryCodec;
import io.varve.cluster.testing.FreePorts;
import io.varve.cluster.testing.TestMember;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.exceptions.RaftException;
import org.apache.ratis.retry.RetryPolicies;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static io.varve.cluster.testing.TestMembers.id;
import static io.varve.cluster.testing.TestMembers.primary;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Three controllers in processes of their own, which are killed, stopped, or have no room. Confined to the test's
 * thread.
 *
 * <p>All tests share the controllers: each one has a member of its own.
 */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class ControllerProcessIT {
    private static final long DEADLINE_MILLIS = 30_000;
    private static final List<SlotRange> ALL = List.of(new SlotRange(0, HashSlot.COUNT - 1));
    /** More than the log preallocates. */
    private static final int DISK_KILOBYTES = 80;
    private static final int IDENTIFIERS = 1_000;
    private static final int END_SECONDS = 30;

    @TempDir
    static Path directory;

    private final Map<String, ControllerProcess> processes = new TreeMap<>();
    private List<ControllerAddress> addresses = List.of();
    private ControllerClient client = new ControllerClient(List.of(ControllerAddress.parse("127.0.0.1:1")), 1);

    @BeforeAll
    void prepare() throws IOException {
        client.close();
        addresses = FreePorts.controllers(3);
        client = new ControllerClient(addresses, DEADLINE_MILLIS);
    }

    @AfterAll
    void stop() throws IOException {
        client.close();
        for (ControllerProcess process : processes.values()) {
            process.close();
        }
    }

    private ControllerProcess start(String id, int maxFileKilobytes) throws IOException {
        ControllerAddress own = addresses.stream().filter(one -> one.id().equals(id)).findFirst().orElseThrow();
        ControllerProcess process = ControllerProcess.start(addresses, own, directory.resolve(id), maxFileKilobytes);
        processes.put(id, process);
        return process;
    }

    /** Starts those that do not run. */
    @BeforeEach
    void startAll() throws IOException {
        List<ControllerProcess> started = new ArrayList<>();
        for (ControllerAddress address : addresses) {
            ControllerProcess process = processes.get(address.id());
            if (process == null || !process.isAlive()) {
                started.add(start(address.id(), 0));
            }
        }
        for (ControllerProcess process : started) {
            process.awaitReady();
        }
    }

    private ControllerProcess process(String id) {
        ControllerProcess process = processes.get(id);
        assertThat(process).isNotNull();
        return process;
    }

    private static void await(Callable<Boolean> condition) {
        Awaitility.await().atMost(Duration.ofMillis(DEADLINE_MILLIS))
                .pollInterval(Duration.ofMillis(5)).until(condition);
    }

    @Test
    void kill_ofTheLeaderAndThenOfAll_losesNoAcknowledgedChange() throws Exception {
        try (TestMember member = new TestMember(addresses, primary(1), 10)) {
            await(member::acceptsWrites);
            client.change(new Command.AssignSlots(ALL, id(1)));
            long start = System.nanoTime();
            process(client.view().leaderId()).kill();
            client.change(new Command.SetWeight(id(1), 3));
            System.out.println("ControllerProcessIT: change after the kill of the leader "
                    + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start) + " ms");
            await(member::acceptsWrites);
            for (ControllerProcess process : processes.values()) {
                process.kill();
            }
            await(() -> !member.session().hasLease());
            startAll();
            ClusterView view = client.view();
            assertThat(view.map().members()).contains(primary(1).withWeight(3));
            assertThat(view.map().slots(primary(1).withWeight(3))).isEqualTo(ALL);
            await(member::acceptsWrites);
            assertThat(member.session().map().epoch()).isEqualTo(view.map().epoch());
        }
    }

    /** SIGSTOP is a partition: the old leader does not know of the new one until it asks. */
    @Test
    void leader_thatWasStopped_grantsNoLeaseAfterwards() throws Exception {
        try (TestMember member = new TestMember(addresses, primary(2), 10)) {
            await(member::acceptsWrites);
            long epoch = client.view().map().epoch();
            String old = client.view().leaderId();
            process(old).signal("STOP");
            CompletableFuture<HeartbeatReply.Status> late = new CompletableFuture<>();
            Thread.ofVirtual().start(() -> late.complete(heartbeat(old, member.session().generation())));
            await(() -> !client.view().leaderId().equals(old));
            await(member::acceptsWrites);
            process(old).signal("CONT");
            assertThat(late.get(DEADLINE_MILLIS, TimeUnit.MILLISECONDS)).isEqualTo(HeartbeatReply.Status.RETRY);
            assertThat(client.view().map().epoch()).isEqualTo(epoch);
        }
    }

    /** Asks one controller, and no other. A refusal counts as {@code RETRY}. */
    private HeartbeatReply.Status heartbeat(String controller, long generation) {
        try (RaftClient direct = RaftClient.newBuilder().setRaftGroup(ControllerGroup.of(addresses))
                .setProperties(ControllerGroup.properties(DEADLINE_MILLIS)).setRetryPolicy(RetryPolicies.noRetry())
                .build()) {
            byte[] reply = ControllerGroup.bytes(direct.io().sendReadOnly(ControllerGroup.message(
                    QueryCodec.encode(new Query.Heartbeat(id(2), generation, 0, 10, false, 0, 0))),
                    RaftPeerId.valueOf(controller)).getMessage());
            return QueryCodec.decodeHeartbeatReply(reply).status();
        } catch (RaftException refused) {
            return HeartbeatReply.Status.RETRY;
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    @Test
    void controllerWithoutRoom_ends_andTheOthersGoOn() throws Exception {
        process("c3").kill();
        start("c3", DISK_KILOBYTES);
        client.change(new Command.Register(primary(3)));
        long last = 0;
        while (process("c3").awaitEnd(0) < 0) {
            client.change(new Command.SetIdentifiers(id(3), Collections.nCopies(IDENTIFIERS, ++last)));
        }
        assertThat(process("c3").awaitEnd(END_SECONDS)).isEqualTo(1);
        assertThat(process("c3").errors()).contains("varve: the controller has ended: ");
        client.change(new Command.SetIdentifiers(id(3), List.of(++last)));
        start("c3", 0).awaitReady();
        // Without the third one these two have no majority.
        process("c1").kill();
        client.change(new Command.SetWeight(id(3), 2));
        ClusterView view = client.view();
        assertThat(view.identifiers()).containsEntry(id(3), List.of(last));
        assertThat(view.map().members()).contains(primary(3).withWeight(2));
    }
}
