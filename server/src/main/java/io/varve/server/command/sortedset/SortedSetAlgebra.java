package io.varve.server.command.sortedset;

import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.server.command.Invocation;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.command.value.MemberIndex;
import io.varve.server.command.value.MemberList;
import io.varve.server.command.value.WorkMemory;

/**
 * What several sorted sets come to: their union, what they have in common, or the first without the others, with the
 * scores that follow. Confined to its event loop; reused from command to command.
 *
 * <p>The members are noted in a list, by where they lie, one set after the other: however many sets there are, one is
 * looked at at a time. Sets are taken from the smallest to the largest, as Redis does: sums of doubles depend on the order.
 */
final class SortedSetAlgebra {
    /** What is asked. */
    enum Operation {
        UNION, INTERSECTION, DIFFERENCE
    }

    /** How the scores of a member become one. */
    enum Aggregate {
        SUM {
            @Override
            double of(double first, double second) {
                double sum = first + second;
                // Of both infinities.
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
    /** A set is walked over rather than searched for each member if it has up to so many times as many. */
    private static final int SEARCH_COST = 8;

    private final MemberList members;
    private final MemberIndex index;
    private final ScoredOperand operand = new ScoredOperand();
    /** An entry for each operand, with its size as the note, and as its address how far into the texts its own begin. */
    private final MemberList operands = new MemberList();
    /** The texts of members that are integers. */
    private final WorkMemory texts = new WorkMemory();
    /** The first key of the operands among the command's. */
    private int firstKey;
    private int weightsArgument;

    /** @param index of the list */
    SortedSetAlgebra(MemberList members, MemberIndex index) {
        this.members = members;
        this.index = index;
    }

    /**
     * Looks at all operands: they have to be sorted sets or sets.
     *
     * @return false after an error was replied
     */
    boolean open(Invocation call, int first, int count) {
        firstKey = first;
        long textBytes = 0;
        for (int i = 0; i < count; i++) {
            if (operand.open(call, call.keyAt(first + i)) == Found.WRONG_TYPE) {
                return false;
            }
            operands.doubleNote(operands.add(call.cache(), textBytes, 0, 0, 0), operand.size());
            textBytes += operand.textBytes();
        }
        if (textBytes > 0) {
            texts.require(call.cache(), textBytes);
        }
        return true;
    }

    /** Gives back all memory, that of the list too. */
    void release() {
        operands.release();
        texts.release();
        index.release();
        members.release();
    }

    /**
     * Notes the members of the result, with their scores, in no order.
     *
     * @param weights the argument with the first operand's weight, the others' behind it; 0 if each is 1
     */
    void run(Invocation call, Operation operation, int weights, Aggregate aggregate) {
        weightsArgument = weights;
        switch (operation) {
            case UNION -> union(call, aggregate);
            case INTERSECTION -> intersection(call, aggregate);
            case DIFFERENCE -> difference(call);
        }
    }

    // --- the operands

    private ScoredOperand operand(Invocation call, int number) {
        operand.openAgain(call, call.keyAt(firstKey + number), texts.address() + operands.address(number));
        return operand;
    }

    private double weight(Invocation call, int number) {
        if (weightsArgument == 0) {
            return 1;
        }
        int argument = weightsArgument + number;
        boolean read = call.parseDouble(call.argumentAddress(argument), call.argumentLength(argument));
        assert read : "the weights have been checked";
        return call.doubleValue();
    }

    // --- the operations

    private void union(Invocation call, Aggregate aggregate) {
        Cache cache = call.cache();
        CacheSession session = call.session();
        operands.sort(cache, MemberList.Order.NOTE);
        index.expect(cache, (long) operands.doubleNote(operands.inOrder(operands.count() - 1)));
        for (int place = 0; place < operands.count(); place++) {
            int number = operands.inOrder(place);
            ScoredOperand set = operand(call, number);
            double weight = weight(call, number);
            for (boolean more = set.first(); more; more = set.next()) {
                double score = weighted(weight, set.score());
                int before = members.count();
                int entry = index.findOrAdd(cache, session, set.memberAddress(), set.memberLength());
                members.score(entry, entry == before ? score : aggregate.of(members.score(entry), score));
            }
        }
    }

    /** Nothing times infinity is nothing. */
    private static double weighted(double weight, double score) {
        double product = weight * score;
        return Double.isNaN(product) ? 0 : product;
    }

    private void intersection(Invocation call, Aggregate aggregate) {
        operands.sort(call.cache(), MemberList.Order.NOTE);
        int smallest = operands.inOrder(0);
        note(call, operand(call, smallest), weight(call, smallest));
        int found = 0;
        while (found < operands.count() - 1 && members.count() > 0) {
            found++;
            int number = operands.inOrder(found);
            ScoredOperand set = operand(call, number);
            double weight = weight(call, number);
            if (isWalkedOver(set)) {
                for (boolean more = set.first(); more; more = set.next()) {
                    int entry = index.find(call.session(), set.memberAddress(), set.memberLength());
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

    private void difference(Invocation call) {
        note(call, operand(call, 0), 1);
        long left = members.count();
        for (int number = 1; number < operands.count() && left > 0; number++) {
            ScoredOperand set = operand(call, number);
            if (isWalkedOver(set)) {
                for (boolean more = set.first(); more; more = set.next()) {
                    left -= drop(index.find(call.session(), set.memberAddress(), set.memberLength()));
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

    /** How many were dropped: one or none. */
    private int drop(int entry) {
        if (entry == MemberIndex.NONE || members.note(entry) == DROPPED) {
            return 0;
        }
        members.note(entry, DROPPED);
        return 1;
    }

    /** Notes all members of an operand. */
    private void note(Invocation call, ScoredOperand set, double weight) {
        index.expect(call.cache(), set.size());
        for (boolean more = set.first(); more; more = set.next()) {
            int entry = index.findOrAdd(call.cache(), call.session(), set.memberAddress(), set.memberLength());
            members.score(entry, weighted(weight, set.score()));
        }
    }

    private boolean isWalkedOver(ScoredOperand set) {
        return set.size() <= (long) SEARCH_COST * members.count();
    }
}
