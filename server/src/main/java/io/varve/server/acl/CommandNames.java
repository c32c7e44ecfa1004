package io.varve.server.acl;

import java.util.List;

/**
 * The commands and subcommands that rules can name, numbered from 0. Immutable; package {@code command} implements it.
 *
 * <p>The list is longer than the server's own: Redis commands that the server does not implement follow at the end.
 *
 * <p>Names are the built-in ones, even if the configuration renames a command.
 */
public interface CommandNames {
    /** Number of commands. */
    int count();

    /** The number of a command, ignoring case; {@code config|get} names a subcommand. -1 if there is none. */
    int find(String name);

    /** The full name, in lower case. */
    String name(int command);

    boolean isSubcommand(int command);

    /** The numbers of a command's subcommands; empty if it has none. */
    int[] subcommands(int command);

    /** The categories of a command, without the @. */
    List<String> categories(int command);
}
