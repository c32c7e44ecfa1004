package io.varve.server.command;

import io.varve.server.script.LibraryFunction;
import io.varve.server.script.Script;

/** The operations behind EVAL. Confined to its event loop. */
public interface Scripts {
    /**
     * Runs a script, and replies its result. The shards of its keys are locked, or all shards.
     *
     * @param call the command that runs it: its keys are declared, the other arguments follow them
     * @param readOnly whether the command itself forbids writes
     */
    void run(CommandContext call, Script script, boolean readOnly);

    /**
     * Runs a function, and replies its result. The shards of its keys are locked, or all shards.
     *
     * @param call as above
     * @param readOnly as above
     */
    void run(CommandContext call, LibraryFunction function, boolean readOnly);

    /** Shows monitors the command, before the lines of what its script calls. */
    void announce(CommandContext call);
}
