package io.varve.cluster.cli;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

import io.varve.cluster.client.ControllerClient;
import io.varve.cluster.client.RefusedException;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.map.SlotRange;
import io.varve.cluster.placement.SlotAssignment;
import io.varve.cluster.placement.SlotMove;
import io.varve.cluster.protocol.ClusterView;
import io.varve.cluster.protocol.Command;

/**
 * Brings the slots to the members that a placement has chosen, and reports how far it is. Confined to one thread.
 *
 * <p>The slot map declares what moves, and the members do it: they go on if this program ends.
 */
final class SlotMover {
    private static final long PAUSE_MILLIS = 200;
    private static final String BALANCED = "each primary has its share of the slots";

    private final ControllerClient client;
    private final Consumer<String> out;

    /** @param out receives the lines of the report */
    SlotMover(ControllerClient client, Consumer<String> out) {
        this.client = client;
        this.out = out;
    }

    /**
     * Gives slots without an owner to their members, moves the others, and waits until all have moved.
     *
     * @throws IOException if the controllers do not reply, or somebody has aborted a migration
     */
    void move(SlotMap map, SlotAssignment chosen) throws IOException, RefusedException {
        List<SlotMove> moves = chosen.moves(map);
        refusePlain(map, moves);
        Map<String, List<Integer>> free = new TreeMap<>();
        Map<String, List<Integer>> owned = new TreeMap<>();
        for (SlotMove move : moves) {
            (move.from() == null ? free : owned).computeIfAbsent(move.to(), _ -> new ArrayList<>()).add(move.slot());
        }
        for (Map.Entry<String, List<Integer>> one : free.entrySet()) {
            List<SlotRange> ranges = ranges(one.getValue());
            client.change(new Command.AssignSlots(ranges, one.getKey()));
            out.accept(address(map, one.getKey()) + " has the slots " + text(ranges));
        }
        for (Map.Entry<String, List<Integer>> one : owned.entrySet()) {
            List<SlotRange> ranges = ranges(one.getValue());
            client.change(new Command.BeginMigration(ranges, one.getKey()));
            out.accept(address(map, one.getKey()) + " receives " + one.getValue().size() + " slots: " + text(ranges));
        }
        // Slots that are moving already count as those of their receivers.
        if (moves.isEmpty() && map.migrations().isEmpty()) {
            out.accept(BALANCED);
        } else {
            awaitMigrations(senders(map, moves));
        }
    }

    /** The members that the moving slots leave, by slot: of these moves, and of those that went on before. */
    private static Map<Integer, String> senders(SlotMap map, List<SlotMove> moves) {
        Map<Integer, String> senders = new TreeMap<>();
        for (int slot : map.migrations().keySet()) {
            senders.put(slot, Objects.requireNonNull(map.owner(slot)).id());
        }
        for (SlotMove move : moves) {
            if (move.from() != null) {
                senders.put(move.slot(), move.from());
            }
        }
        return senders;
    }

    /** Prints what {@link #move} would do. */
    void print(SlotMap map, SlotAssignment chosen) {
        Map<String, List<Integer>> slots = new TreeMap<>();
        for (SlotMove move : chosen.moves(map)) {
            String from = move.from() == null ? "no one" : address(map, move.from());
            slots.computeIfAbsent(from + " to " + address(map, move.to()), _ -> new ArrayList<>()).add(move.slot());
        }
        slots.forEach((members, moved) -> out.accept("from " + members + ": " + moved.size() + " slots: "
                + text(ranges(moved))));
        if (slots.isEmpty()) {
            out.accept(BALANCED);
        }
    }

    /** Ends the migrations that are going on. */
    void abort(SlotMap map) throws IOException, RefusedException {
        List<Integer> slots = map.migrations().keySet().stream().sorted().toList();
        if (!slots.isEmpty()) {
            client.change(new Command.AbortMigration(ranges(slots)));
        }
        out.accept(slots.size() + " slots stay where they are");
    }

    private void awaitMigrations(Map<Integer, String> senders) throws IOException {
        int total = 0;
        int printed = 0;
        Set<String> silent = new HashSet<>();
        ClusterView view = client.view();
        SlotMap map = view.map();
        for (int left = map.migrations().size(); left > 0; left = map.migrations().size()) {
            total = Math.max(total, left);
            if (left != printed) {
                out.accept("moved " + (total - left) + " of " + total + " slots");
                printed = left;
            }
            printSilent(view, silent);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(PAUSE_MILLIS));
            view = client.view();
            map = view.map();
        }
        requireMoved(map, senders);
        if (total > 0) {
            out.accept("moved all " + total + " slots");
        }
    }

    /**
     * Names senders and receivers that the controllers do not hear, so that nobody waits without knowing for what.
     *
     * @param printed those that were named before
     */
    private void printSilent(ClusterView view, Set<String> printed) {
        Set<String> silent = new TreeSet<>();
        view.map().migrations().forEach((slot, target) -> {
            for (Member end : List.of(Objects.requireNonNull(view.map().owner(slot)), target)) {
                ClusterView.Liveness liveness = view.liveness().get(end.id());
                if (liveness == null || !liveness.alive()) {
                    silent.add(end.address());
                }
            }
        });
        silent.stream().filter(printed::add).forEach(address -> out.accept("waiting for " + address
                + ", which does not reply. To give up: cluster rebalance --abort"));
        printed.retainAll(silent);
    }

    private static void requireMoved(SlotMap map, Map<Integer, String> senders) throws IOException {
        long staying = senders.entrySet().stream().filter(sender -> {
            Member owner = map.owner(sender.getKey());
            return owner != null && owner.id().equals(sender.getValue());
        }).count();
        if (staying > 0) {
            throw new IOException(staying + " slots stay where they are: their migrations were aborted");
        }
    }

    private static void refusePlain(SlotMap map, List<SlotMove> moves) {
        for (SlotMove move : moves) {
            for (String id : move.from() == null ? List.<String>of() : List.of(move.from(), move.to())) {
                Member member = Objects.requireNonNull(map.member(id));
                if (member.kind() == Member.Kind.PLAIN) {
                    throw new IllegalArgumentException("member " + member.address() + " is a plain server, which does"
                            + " not move slots: expected members that Varve runs");
                }
            }
        }
    }

    private static String address(SlotMap map, String id) {
        return Objects.requireNonNull(map.member(id)).address();
    }

    /** @param slots in ascending order */
    private static List<SlotRange> ranges(List<Integer> slots) {
        List<SlotRange> ranges = new ArrayList<>();
        for (int slot : slots) {
            SlotRange last = ranges.isEmpty() ? null : ranges.getLast();
            if (last != null && last.last() == slot - 1) {
                ranges.set(ranges.size() - 1, new SlotRange(last.first(), slot));
            } else {
                ranges.add(new SlotRange(slot, slot));
            }
        }
        return ranges;
    }

    private static String text(List<SlotRange> ranges) {
        return String.join(", ", ranges.stream()
                .map(range -> range.size() == 1 ? "" + range.first() : range.first() + "-" + range.last()).toList());
    }
}
