package io.varve.server.command;

/** What commands on sets work with. Confined to its event loop; reused from command to command. */
final class Sets {
    private final NumberText text = new NumberText();
    private final SetValue first = new SetValue(text);
    private final SetValue second = new SetValue(text);
    private final SetAlgebra algebra;
    private final SetResult result = new SetResult();

    /** @param operands the sets of a command that has many */
    Sets(Operands operands) {
        algebra = new SetAlgebra(operands, first, second);
    }

    /** The set of a command that has one. */
    SetValue first() {
        return first;
    }

    /** The other set of a command that has two. */
    SetValue second() {
        return second;
    }

    /** Walks over the operands; takes both views for it. */
    SetAlgebra algebra() {
        return algebra;
    }

    SetResult result() {
        return result;
    }
}
