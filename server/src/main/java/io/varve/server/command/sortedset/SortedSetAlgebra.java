package io.varve.server.command.sortedset;

import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.server.command.CommandContext;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.command.value.MemberIndex;
import io.varve.server.command.value.MemberList;
import io.varve.server.command.value.WorkMemory;

/**
 * Computes the union, intersection or difference of sorted sets, with the resulting scores. Confined to its event loop;
 * reused from command to command.
 *
 * <p>It stores the addresses of the members in a list, one set after the other: only one set is open at a time,
 * whatever their number. Sets are processed from the smallest to the largest, as in Redis, because sums of doubles
 * depend on the order.
 */
final class SortedSetAlgebra {
    /** The set operations that {@link #run} computes. */
    enum Operation {
        UNION, INTERSECTION, DIFFERENCE
    }

    /** Combines two scores of a member into one. */
    enum Aggregate {
        SUM {
            @Override
            double of(double first, double second) {
                double sum = first + second;
                // The sum of both infinities is NaN.
                return Double.isNaN(sum) ? 0 : sum;
            }
        },
        MIN {
            @Override
            double of(double first, double second) {
                return second < first ? second : first;
            }
        },
        MAX {
            @Override
            double of(double first, double second) {
                return second > first ? second : first;
            }
        };

        abstract double of(double first, double second);
    }

    private static final int DROPPED = -1;
    /** A set is iterated over, rather than searched for each member, up to this many times the number of members. */
    private static final int SEARCH_COST = 8;

    private final MemberList members;
    private final MemberIndex index;
    private final ScoredOperand operand = new ScoredOperand();
    /** An entry per operand: the note is its size, the address the offset of its texts. */
    private final MemberList operands = new MemberList();
    /** The texts of integer members. */
    private final WorkMemory texts = new WorkMemory();
    /** The number of the first operand's key among the command's keys. */
    private int firstKey;
    private int weightsArgument;

    /** @param index the index of {@code members} */
    SortedSetAlgebra(MemberList members, MemberIndex index) {
        this.members = members;
        this.index = index;
    }

    /**
     * Opens all operands, which must be sorted sets or sets.
     *
     * @return false after an error was replied
     */
    boolean open(CommandContext context, int first, int count) {
        firstKey = first;
        long textBytes = 0;
        for (int i = 0; i < count; i++) {
            if (operand.open(context, context.keyAt(first + i)) == Found.WRONG_TYPE) {
                return false;
            }
            operands.doubleNote(operands.add(context.cache(), textBytes, 0, 0, 0), operand.size());
            textBytes += operand.textBytes();
        }
        if (textBytes > 0) {
            texts.require(context.cache(), textBytes);
        }
        return true;
    }

    /** Releases all memory, including the list's. */
    void release() {
        operands.release();
        texts.release();
        index.release();
        members.release();
    }

    /**
     * Collects the members of the result, with their scores, unordered.
     *
     * @param weights the argument with the first operand's weight, followed by the others'; 0 if each weight is 1
     */
    void run(CommandContext context, Operation operation, int weights, Aggregate aggregate) {
        weightsArgument = weights;
        switch (operation) {
            case UNION -> union(context, aggregate);
            case INTERSECTION -> intersection(context, aggregate);
            case DIFFERENCE -> difference(context);
        }
    }

    // --- the operands

    private ScoredOperand operand(CommandContext context, int number) {
        operand.openAgain(context, context.keyAt(firstKey + number), texts.address() + operands.address(number));
        return operand;
    }

    private double weight(CommandContext context, int number) {
        if (weightsArgument == 0) {
            return 1;
        }
        int argument = weightsArgument + number;
        boolean read = context.parseDouble(context.argumentAddress(argument), context.argumentLength(argument));
        assert read : "the weights are valid";
        return context.doubleValue();
    }

    // --- the operations

    private void union(CommandContext context, Aggregate aggregate) {
        Cache cache = context.cache();
        CacheSession session = context.session();
        operands.sort(cache, MemberList.Order.NOTE);
        index.expect(cache, (long) operands.doubleNote(operands.inOrder(operands.count() - 1)));
        for (int place = 0; place < operands.count(); place++) {
            int number = operands.inOrder(place);
            ScoredOperand set = operand(context, number);
            double weight = weight(context, number);
            for (boolean more = set.first(); more; more = set.next()) {
                double score = weighted(weight, set.score());
                int before = members.count();
                int entry = index.findOrAdd(cache, session, set.memberAddress(), set.memberLength());
                members.score(entry, entry == before ? score : aggregate.of(members.score(entry), score));
            }
        }
    }

    /** Zero times infinity is zero. */
    private static double weighted(double weight, double score) {
        double product = weight * score;
        return Double.isNaN(product) ? 0 : product;
    }

    private void intersection(CommandContext context, Aggregate aggregate) {
        operands.sort(context.cache(), MemberList.Order.NOTE);
        int smallest = operands.inOrder(0);
        note(context, operand(context, smallest), weight(context, smallest));
        int found = 0;
        while (found < operands.count() - 1 && members.count() > 0) {
            found++;
            int number = operands.inOrder(found);
            ScoredOperand set = operand(context, number);
            double weight = weight(context, number);
            if (isWalkedOver(set)) {
                for (boolean more = set.first(); more; more = set.next()) {
                    int entry = index.find(context.session(), set.memberAddress(), set.memberLength());
                    if (entry != MemberIndex.NONE && members.note(entry) == found - 1) {
                        meet(entry, found, aggregate, weight * set.score());
                    }
                }
            } else {
                for (int entry = 0; entry < members.count(); entry++) {
                    if (members.note(entry) == found - 1
                            && set.find(members.address(entry), members.length(entry))) {
                        meet(entry, found, aggregate, weight * set.score());
                    }
                }
            }
        }
        members.keepNoted(found);
    }

    private void meet(int entry, int found, Aggregate aggregate, double score) {
        members.note(entry, found);
        members.score(entry, aggregate.of(members.score(entry), score));
    }

    private void difference(CommandContext context) {
        note(context, operand(context, 0), 1);
        long left = members.count();
        for (int number = 1; number < operands.count() && left > 0; number++) {
            ScoredOperand set = operand(context, number);
            if (isWalkedOver(set)) {
                for (boolean more = set.first(); more; more = set.next()) {
                    left -= drop(index.find(context.session(), set.memberAddress(), set.memberLength()));
                }
            } else {
                for (int entry = 0; entry < members.count(); entry++) {
                    if (members.note(entry) != DROPPED && set.find(members.address(entry), members.length(entry))) {
                        left -= drop(entry);
                    }
                }
            }
        }
        members.keepNoted(0);
    }

    /** Drops an entry; returns the number of dropped entries, 0 or 1. */
    private int drop(int entry) {
        if (entry == MemberIndex.NONE || members.note(entry) == DROPPED) {
            return 0;
        }
        members.note(entry, DROPPED);
        return 1;
    }

    /** Collects all members of an operand. */
    private void note(CommandContext context, ScoredOperand set, double weight) {
        index.expect(context.cache(), set.size());
        for (boolean more = set.first(); more; more = set.next()) {
            int entry = index.findOrAdd(context.cache(), context.session(), set.memberAddress(), set.memberLength());
            members.score(entry, weighted(weight, set.score()));
        }
    }

    private boolean isWalkedOver(ScoredOperand set) {
        return set.size() <= (long) SEARCH_COST * members.count();
    }
}
