package io.varve.server.command;

/**
 * Walks over what several sets have in common, together, or one without the others. Confined to its event loop. Nothing
 * is noted on the way: each member is looked for in the other sets.
 */
final class SetAlgebra {
    /** What is asked. */
    enum Operation {
        INTERSECTION, UNION, DIFFERENCE
    }

    private final Operands operands;
    private final SetValue walked;
    private final SetValue probe;

    /**
     * @param walked a view for the set that is walked over
     * @param probe  one for those in which its members are looked for
     */
    SetAlgebra(Operands operands, SetValue walked, SetValue probe) {
        this.operands = operands;
        this.walked = walked;
        this.probe = probe;
    }

    /** Hands each member of the result to the sink until it wants no more; whether it has taken all of them. */
    boolean walk(Operation operation, MemberSink sink) {
        return switch (operation) {
            case INTERSECTION -> intersection(sink);
            case UNION -> union(sink);
            case DIFFERENCE -> difference(sink);
        };
    }

    private boolean intersection(MemberSink sink) {
        int smallest = 0;
        for (int i = 1; i < operands.count(); i++) {
            if (look(i, probe).size() < look(smallest, walked).size()) {
                smallest = i;
            }
        }
        int without = smallest;
        return look(smallest, walked).forEach(member -> !isInAll(member, without) || sink.take(member));
    }

    private SetValue look(int index, SetValue view) {
        view.look(operands.address(index), operands.length(index), operands.encoding(index));
        return view;
    }

    private boolean isInAll(SetValue member, int without) {
        for (int i = 0; i < operands.count(); i++) {
            if (i != without && !look(i, probe).containsMemberOf(member)) {
                return false;
            }
        }
        return true;
    }

    private boolean union(MemberSink sink) {
        boolean more = true;
        for (int i = 0; more && i < operands.count(); i++) {
            int before = i;
            more = look(i, walked).forEach(member -> isInAny(member, 0, before) || sink.take(member));
        }
        return more;
    }

    private boolean difference(MemberSink sink) {
        return look(0, walked).forEach(member -> isInAny(member, 1, operands.count()) || sink.take(member));
    }

    private boolean isInAny(SetValue member, int from, int to) {
        for (int i = from; i < to; i++) {
            if (look(i, probe).containsMemberOf(member)) {
                return true;
            }
        }
        return false;
    }
}
