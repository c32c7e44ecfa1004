package io.varve.server.command;

/** All families of commands. Immutable: static methods only. */
public final class Families {
    private Families() {}

    /** The table of all commands, for one server. */
    public static CommandTable table(ServerContext server) {
        CommandTable.Builder table = CommandTable.builder();
        new ConnectionCommands(server).register(table);
        return table.build();
    }
}
