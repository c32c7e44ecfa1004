package io.varve.server.command.list;

import io.varve.server.command.Invocation;
import io.varve.server.command.Workspace;

/** What commands on lists work with. Confined to its event loop; reused from command to command. */
public final class Lists {
    private static final Workspace<Lists> WORKSPACE = Workspace.madeBy(Lists::new);

    private final ListValue first;
    private final ListValue second;

    private Lists(Invocation call) {
        first = new ListValue(call);
        second = new ListValue(call);
    }

    /** Those of an invocation. */
    public static Lists of(Invocation call) {
        return WORKSPACE.of(call);
    }

    /** The list of a command that has one. */
    public ListValue first() {
        return first;
    }

    /** The other list of a command that has two. */
    ListValue second() {
        return second;
    }
}
