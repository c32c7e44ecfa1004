package io.varve.server.acl;

import java.util.List;

/**
 * The commands that rules can name, numbered from 0, subcommands among them. Immutable; the room of commands supplies it.
 *
 * <p>There are more than the server has: those of Redis that it does not have come last.
 *
 * <p>A command is called by the name it is born with, whatever the configuration renamed it to.
 */
public interface CommandNames {
    /** How many there are. */
    int count();

    /** The number of a command; {@code config|get} names a subcommand. In any case. -1 if there is none. */
    int find(String name);

    /** The full name, in lower case. */
    String name(int command);

    boolean isSubcommand(int command);

    /** The numbers of its subcommands; empty if it has none. */
    int[] subcommands(int command);

    /** Its categories, without the @. */
    List<String> categories(int command);
}
