package io.varve.server.command.list;

import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandScratch;

/** Reusable state of list commands. Confined to its event loop; reused from command to command. */
public final class Lists {
    private static final CommandScratch<Lists> SCRATCH = CommandScratch.madeBy(Lists::new);

    private final ListValue first;
    private final ListValue second;

    private Lists(CommandContext context) {
        first = new ListValue(context);
        second = new ListValue(context);
    }

    /** The instance of a context. */
    public static Lists of(CommandContext context) {
        return SCRATCH.of(context);
    }

    /** The list of a command with one list. */
    public ListValue first() {
        return first;
    }

    /** The second list of a command with two. */
    ListValue second() {
        return second;
    }
}
