package io.varve.server.command.set;

import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandScratch;
import io.varve.server.command.text.NumberText;
import io.varve.server.command.value.Operands;

/** Reusable state of set commands. Confined to its event loop; reused from command to command. */
public final class Sets {
    private static final CommandScratch<Sets> SCRATCH = CommandScratch
            .madeBy(context -> new Sets(Operands.of(context)));

    private final NumberText text = new NumberText();
    private final SetValue first = new SetValue(text);
    private final SetValue second = new SetValue(text);
    private final SetAlgebra algebra;
    private final SetResult result = new SetResult();

    /** @param operands the sets of a command with many */
    Sets(Operands operands) {
        algebra = new SetAlgebra(operands, first, second);
    }

    /** The instance of a context. */
    public static Sets of(CommandContext context) {
        return SCRATCH.of(context);
    }

    /** The set of a command with one set. */
    public SetValue first() {
        return first;
    }

    /** The second set of a command with two. */
    SetValue second() {
        return second;
    }

    /** The set operations on the operands; they use both views. */
    SetAlgebra algebra() {
        return algebra;
    }

    SetResult result() {
        return result;
    }
}
