package io.varve.cluster.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;

import io.varve.cluster.client.ControllerClient;
import io.varve.cluster.client.ControllersUnavailableException;
import io.varve.cluster.client.RefusedException;
import io.varve.cluster.controller.Controller;
import io.varve.cluster.controller.ControllerConfig;
import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.map.SlotRange;
import io.varve.cluster.placement.SlotRebalancer;
import io.varve.cluster.protocol.Command;
import io.varve.cluster.protocol.ControllerAddress;
import io.varve.cluster.testing.FreePorts;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static io.varve.cluster.testing.TestMembers.id;
import static io.varve.cluster.testing.TestMembers.primary;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * Tests {@link SlotMover} on a real controller. Each move runs on a virtual thread, and the test's thread plays the
 * members.
 */
@Timeout(120)
final class SlotMoverIT {
    private static final Duration WITHIN = Duration.ofSeconds(60);
    private static final long DEADLINE_MILLIS = 30_000;
    private static final long SHORT_DEADLINE_MILLIS = 1_000;
    private static final int HALF = HashSlot.COUNT / 2;
    private static final List<SlotRange> ALL = List.of(new SlotRange(0, HashSlot.COUNT - 1));
    private static final List<SlotRange> UPPER = List.of(new SlotRange(HALF, HashSlot.COUNT - 1));

    @TempDir
    Path directory;

    private final Queue<String> out = new ConcurrentLinkedQueue<>();
    private List<ControllerAddress> addresses = List.of();
    private Controller controller;
    private ControllerClient client;
    private long firstGeneration;
    private long secondGeneration;

    @BeforeEach
    void start() throws IOException, RefusedException {
        addresses = FreePorts.controllers(1);
        controller = Controller.start(new ControllerConfig("c1", directory, addresses));
        client = new ControllerClient(addresses, DEADLINE_MILLIS);
        firstGeneration = client.change(new Command.Register(primary(1))).generation();
        secondGeneration = client.change(new Command.Register(primary(2))).generation();
    }

    @AfterEach
    void stop() throws IOException {
        client.close();
        controller.close();
    }

    private SlotMap map() throws IOException {
        return client.view().map();
    }

    /** Begins to give each primary its share, by a map that the program has read before. */
    private FutureTask<Void> startMoving(SlotMap known, ControllerClient by) {
        List<Member> primaries = known.members().stream().filter(Member::isPrimary).toList();
        FutureTask<Void> moving = new FutureTask<>(() -> {
            new SlotMover(by, out::add).move(known, SlotRebalancer.rebalance(primaries, known));
            return null;
        });
        Thread.ofVirtual().start(moving);
        return moving;
    }

    private FutureTask<Void> startMoving() throws IOException {
        return startMoving(map(), client);
    }

    /** The first member has given slots to the second one. */
    private void finish(int first, int last) throws IOException, RefusedException {
        client.change(new Command.FinishMigration(List.of(new SlotRange(first, last)), id(1), firstGeneration, id(2),
                secondGeneration, map().epoch()));
    }

    private void awaitLine(String line) {
        await().atMost(WITHIN).until(() -> out.contains(line));
    }

    private static @Nullable String ownerId(SlotMap map, int slot) {
        Member owner = map.owner(slot);
        return owner == null ? null : owner.id();
    }

    @Test
    void freeSlots_areGiven_andOwnedOnesMove() throws Exception {
        client.change(new Command.AssignSlots(List.of(new SlotRange(0, HashSlot.COUNT - 101)), id(1)));
        SlotMap before = map();
        new SlotMover(client, out::add).print(before, SlotRebalancer.rebalance(before.members(), before));
        assertThat(out).anySatisfy(line -> assertThat(line).startsWith("from no one to 127.0.0.1:7002: 100 slots: "));
        assertThat(map().epoch()).as("a dry run").isEqualTo(before.epoch());
        out.clear();

        FutureTask<Void> moving = startMoving();
        awaitLine("moved 0 of " + (HALF - 100) + " slots");
        assertThat(out).first().isEqualTo("127.0.0.1:7002 has the slots " + (HashSlot.COUNT - 100) + "-"
                + (HashSlot.COUNT - 1));
        assertThat(out).anySatisfy(line -> assertThat(line).startsWith("127.0.0.1:7002 receives " + (HALF - 100)
                + " slots: "));
        List<Integer> slots = map().migrations().keySet().stream().sorted().toList();
        assertThat(slots).hasSize(HALF - 100);
        finish(slots.getFirst(), slots.getFirst());
        awaitLine("moved 1 of " + (HALF - 100) + " slots");
        assertThat(moving).isNotDone();
        finish(slots.get(1), slots.getLast());
        moving.get();
        assertThat(out).last().isEqualTo("moved all " + (HALF - 100) + " slots");
        out.clear();
        startMoving().get();
        assertThat(out).containsExactly("each primary has its share of the slots");
    }

    @Test
    void migrationsThatSomebodyAborts_areNotReportedAsMoved() throws Exception {
        client.change(new Command.AssignSlots(ALL, id(1)));
        FutureTask<Void> moving = startMoving();
        awaitLine("moved 0 of " + HALF + " slots");
        // The members of this test send no heartbeats.
        List<String> silent = Stream.of(1, 2).map(number -> "waiting for " + primary(number).address()
                + ", which does not reply. To give up: cluster rebalance --abort").toList();
        awaitLine(silent.getLast());
        List<Integer> slots = map().migrations().keySet().stream().sorted().toList();
        finish(slots.getFirst(), slots.getFirst());
        Queue<String> other = new ConcurrentLinkedQueue<>();
        new SlotMover(client, other::add).abort(map());
        assertThat(other).containsExactly((HALF - 1) + " slots stay where they are");
        assertThatThrownBy(moving::get).cause().isInstanceOf(IOException.class)
                .hasMessage((HALF - 1) + " slots stay where they are: their migrations were aborted");
        assertThat(out).noneMatch(line -> line.startsWith("moved all"));
        assertThat(map().migrations()).isEmpty();
        // There is nothing to abort any more.
        long epoch = map().epoch();
        new SlotMover(client, other::add).abort(map());
        assertThat(other).last().isEqualTo("0 slots stay where they are");
        assertThat(map().epoch()).isEqualTo(epoch);
    }

    @Test
    void migrationsOfAnEarlierRunThatSomebodyAborts_areNotReportedAsMoved() throws Exception {
        client.change(new Command.AssignSlots(ALL, id(1)));
        client.change(new Command.BeginMigration(UPPER, id(2)));
        FutureTask<Void> moving = startMoving();
        awaitLine("moved 0 of " + HALF + " slots");
        new SlotMover(client, _ -> {}).abort(map());
        assertThatThrownBy(moving::get).cause().isInstanceOf(IOException.class)
                .hasMessage(HALF + " slots stay where they are: their migrations were aborted");
        assertThat(out).noneMatch(line -> line.startsWith("moved all"));
    }

    @Test
    void changesByAnOlderMap_areRefused() throws Exception {
        SlotMap old = map();
        client.change(new Command.AssignSlots(UPPER, id(1)));
        assertThatThrownBy(startMoving(old, client)::get).cause().isInstanceOf(RefusedException.class)
                .hasMessageContaining("belongs to " + id(1));
        SlotMap beforeThird = map();
        client.change(new Command.Register(primary(3)));
        client.change(new Command.BeginMigration(ALL, id(3)));
        long epoch = map().epoch();
        out.clear();
        assertThatThrownBy(startMoving(beforeThird, client)::get).cause().isInstanceOf(RefusedException.class)
                .hasMessageContaining("is moving to " + id(3));
        assertThat(map().epoch()).isEqualTo(epoch);
        assertThat(out).isEmpty();
    }

    @Test
    void plainServers_areRefusedBeforeAnythingChanges() throws Exception {
        client.change(new Command.Register(new Member(id(9), "127.0.0.1", 7009, 1, null, Member.Kind.PLAIN)));
        client.change(new Command.AssignSlots(UPPER, id(9)));
        SlotMap known = map();
        SlotMover mover = new SlotMover(client, out::add);
        assertThatThrownBy(() -> mover.move(known, SlotRebalancer.rebalance(List.of(primary(1), primary(2)), known)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("member 127.0.0.1:7009 is a plain server");
        // Not even the free slots are given.
        assertThat(map().epoch()).isEqualTo(known.epoch());
    }

    @Test
    void controllersThatAreGone_endTheProgram_butNotTheMigrations() throws Exception {
        client.change(new Command.AssignSlots(ALL, id(1)));
        try (ControllerClient hasty = new ControllerClient(addresses, SHORT_DEADLINE_MILLIS)) {
            FutureTask<Void> moving = startMoving(map(), hasty);
            awaitLine("moved 0 of " + HALF + " slots");
            controller.close();
            assertThatThrownBy(moving::get).cause().isInstanceOf(ControllersUnavailableException.class);
        }
        controller = Controller.start(new ControllerConfig("c1", directory, addresses));
        assertThat(map().migrations()).hasSize(HALF);
        assertThat(ownerId(map(), 0)).isEqualTo(id(1));
        // A further one waits for them.
        out.clear();
        FutureTask<Void> again = startMoving();
        awaitLine("moved 0 of " + HALF + " slots");
        // The members of this test send no heartbeats.
        List<String> silent = Stream.of(1, 2).map(number -> "waiting for " + primary(number).address()
                + ", which does not reply. To give up: cluster rebalance --abort").toList();
        awaitLine(silent.getLast());
        List<Integer> slots = map().migrations().keySet().stream().sorted().toList();
        finish(slots.getFirst(), slots.getLast());
        again.get();
        assertThat(out).containsExactly("moved 0 of " + HALF + " slots", silent.getFirst(), silent.getLast(),
                "moved all " + HALF + " slots");
    }
}
