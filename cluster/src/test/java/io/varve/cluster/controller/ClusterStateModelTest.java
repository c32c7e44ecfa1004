package io.varve.cluster.controller;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.map.SlotRange;
import io.varve.cluster.protocol.Command;
import io.varve.cluster.protocol.CommandCodec;
import io.varve.cluster.testing.TestMembers;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;

import static io.varve.cluster.testing.TestMembers.id;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random commands. After each one the state keeps its invariants; a snapshot and the commands after it lead to the
 * state of the live one. Confined to the test's thread.
 */
final class ClusterStateModelTest {
    private static final int MEMBERS = 8;
    private static final int SNAPSHOT_EVERY = 50;
    /** Few slots, so that commands meet. */
    private static final int SLOTS = 12;

    private final long seed = TestBudget.seed("varve.cluster.seed");
    private final Random random = new Random(seed);

    @Test
    void randomCommands_keepTheInvariants_andReplayFromASnapshot() throws IOException {
        int commands = TestBudget.ofInt("varve.cluster.commands", 1_500, 100_000);
        ClusterState live = ClusterState.EMPTY;
        ClusterState replayed = ClusterState.EMPTY;
        Map<Class<?>, Integer> accepted = new HashMap<>();
        for (int index = 1; index <= commands; index++) {
            long term = 1 + index / 100L;
            Command command = next(live, term);
            byte[] bytes = CommandCodec.encode(command);
            assertThat(CommandCodec.decode(bytes)).isEqualTo(command);
            ClusterState before = live;
            ClusterState.Outcome outcome = before.apply(command, term, index);
            live = outcome.state();
            check(before, outcome, index);
            if (outcome.result().accepted()) {
                accepted.merge(command.getClass(), 1, Integer::sum);
            }
            replayed = replayed.apply(CommandCodec.decode(bytes), term, index).state();
            if (index % SNAPSHOT_EVERY == 0) {
                byte[] snapshot = ClusterStateCodec.encode(live);
                assertThat(ClusterStateCodec.encode(replayed)).isEqualTo(snapshot);
                replayed = ClusterStateCodec.decode(snapshot);
                assertThat(ClusterStateCodec.encode(replayed)).isEqualTo(snapshot);
            }
        }
        assertThat(accepted).as("kinds of commands that were accepted").hasSize(11);
    }

    private void check(ClusterState before, ClusterState.Outcome outcome, long index) {
        ClusterState after = outcome.state();
        SlotMap map = after.map();
        long step = map.epoch() - before.map().epoch();
        if (map == before.map()) {
            assertThat(step).isZero();
        } else {
            assertThat(step).as("seed %s, index %s", seed, index).isOne();
        }
        assertThat(outcome.result().epoch()).isEqualTo(map.epoch());
        if (!outcome.result().accepted()) {
            assertThat(after).isSameAs(before);
            assertThat(outcome.result().reason()).isNotBlank();
        }
        assertThat(after.generations().keySet())
                .isEqualTo(new HashSet<>(map.members().stream().map(Member::id).toList()));
        int owned = 0;
        for (Member member : map.members()) {
            String primary = member.primaryId();
            if (primary != null) {
                Member replicated = map.member(primary);
                assertThat(replicated).isNotNull();
                assertThat(replicated.isPrimary()).isTrue();
                assertThat(map.slots(member)).isEmpty();
            }
            owned += map.slots(member).stream().mapToInt(SlotRange::size).sum();
        }
        // Each slot has one owner, which is a member: no slot is counted twice, and none is lost.
        assertThat(owned).isEqualTo(map.assignedSlots());
        map.migrations().forEach((slot, target) -> {
            assertThat(target.isPrimary()).isTrue();
            assertThat(map.owner(slot)).isNotNull().isNotEqualTo(target);
        });
    }

    private String member() {
        return id(random.nextInt(MEMBERS));
    }

    private Member randomMember() {
        Member member = TestMembers.primary(random.nextInt(MEMBERS));
        if (random.nextInt(4) == 0) {
            member = member.withAddress("127.0.0.1", 7000 + random.nextInt(MEMBERS + 4));
        }
        String primary = member();
        return random.nextBoolean() && !primary.equals(member.id()) ? member.withPrimary(primary) : member;
    }

    private List<SlotRange> slots() {
        List<SlotRange> slots = new ArrayList<>();
        int ranges = 1 + random.nextInt(2);
        for (int i = 0; i < ranges; i++) {
            int first = random.nextInt(SLOTS);
            slots.add(new SlotRange(first, random.nextInt(20) == 0
                    ? HashSlot.COUNT - 1
                    : first + random.nextInt(SLOTS - first)));
        }
        return slots;
    }

    private Command next(ClusterState state, long term) {
        return switch (random.nextInt(15)) {
            case 0, 1 -> new Command.Register(randomMember());
            case 2 -> new Command.Remove(member(), random.nextInt(4) == 0);
            case 3 -> new Command.Replicate(member(), member());
            case 4, 5 -> new Command.AssignSlots(slots(), member());
            case 6 -> new Command.BeginMigration(slots(), member());
            case 7 -> finish(state);
            case 8 -> new Command.AbortMigration(slots());
            case 9, 10 -> promote(state, term);
            case 11, 12 -> handOver(state);
            case 13 -> new Command.SetWeight(member(), random.nextInt(4) - 0.5);
            default -> new Command.SetIdentifiers(member(),
                    random.nextBoolean() ? List.of() : List.of(random.nextLong(), random.nextLong()));
        };
    }

    /** Mostly a migration that runs: others are refused. */
    private Command finish(ClusterState state) {
        for (Map.Entry<Integer, Member> migration : state.map().migrations().entrySet()) {
            int slot = migration.getKey();
            Member owner = state.map().owner(slot);
            String target = random.nextInt(4) > 0 ? migration.getValue().id() : member();
            if (owner != null && random.nextInt(4) > 0) {
                return new Command.FinishMigration(List.of(new SlotRange(slot, slot)), owner.id(),
                        state.generation(owner.id()) - random.nextInt(2), target,
                        state.generation(target) - random.nextInt(2), state.map().epoch() - random.nextInt(2));
            }
        }
        return new Command.FinishMigration(slots(), member(), random.nextInt(100), member(), random.nextInt(100), 0);
    }

    private Command handOver(ClusterState state) {
        for (Member member : state.map().members()) {
            String primary = member.primaryId();
            if (primary != null && random.nextBoolean()) {
                return new Command.HandOver(primary, state.generation(primary), member.id(),
                        state.generation(member.id()), state.map().epoch());
            }
        }
        return new Command.HandOver(member(), random.nextInt(100), member(), random.nextInt(100), 0);
    }

    private Command promote(ClusterState state, long term) {
        for (Member member : state.map().members()) {
            String primary = member.primaryId();
            if (primary != null && random.nextBoolean()) {
                return new Command.Promote(member.id(), primary, term - random.nextInt(2));
            }
        }
        return new Command.Promote(member(), member(), Command.Promote.ANY_TERM);
    }

    @Test
    void damagedSnapshots_areRefused() {
        byte[] snapshot = ClusterStateCodec.encode(ClusterState.EMPTY
                .apply(new Command.Register(TestMembers.primary(1)), 1, 1).state());
        for (int position = 0; position < snapshot.length; position++) {
            byte[] damaged = snapshot.clone();
            damaged[position] ^= (byte) (1 << random.nextInt(Byte.SIZE));
            assertThat(isReadable(damaged)).as("byte %s of seed %s", position, seed).isFalse();
        }
        assertThat(isReadable(new byte[0])).isFalse();
    }

    private static boolean isReadable(byte[] snapshot) {
        try {
            ClusterStateCodec.decode(snapshot);
            return true;
        } catch (IOException refused) {
            return false;
        }
    }
}
