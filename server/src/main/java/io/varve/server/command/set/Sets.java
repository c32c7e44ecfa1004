package io.varve.server.command.set;

import io.varve.server.command.Invocation;
import io.varve.server.command.Workspace;
import io.varve.server.command.text.NumberText;
import io.varve.server.command.value.Operands;

/** What commands on sets work with. Confined to its event loop; reused from command to command. */
public final class Sets {
    private static final Workspace<Sets> WORKSPACE = Workspace.madeBy(call -> new Sets(Operands.of(call)));

    private final NumberText text = new NumberText();
    private final SetValue first = new SetValue(text);
    private final SetValue second = new SetValue(text);
    private final SetAlgebra algebra;
    private final SetResult result = new SetResult();

    /** @param operands the sets of a command that has many */
    Sets(Operands operands) {
        algebra = new SetAlgebra(operands, first, second);
    }

    /** Those of an invocation. */
    public static Sets of(Invocation call) {
        return WORKSPACE.of(call);
    }

    /** The set of a command that has one. */
    public SetValue first() {
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
