package io.varve.server.command;

/** All families of commands. Immutable: static methods only. */
public final class Families {
    private Families() {}

    /** The table of all commands, for one server. */
    public static CommandTable table(ServerContext server) {
        CommandTable.Builder table = CommandTable.builder();
        StringCommands.addTo(table);
        KeyCommands.addTo(table);
        HashCommands.addTo(table);
        ListCommands.addTo(table);
        SetCommands.addTo(table);
        BitmapCommands.addTo(table);
        HyperLogLogCommands.addTo(table);
        SortedSetCommands.addTo(table);
        GeoCommands.addTo(table);
        TransactionCommands.addTo(table);
        new PubSubCommands(server.channels()).register(table);
        new CatalogueCommands(server).register(table);
        new ConnectionCommands(server).register(table);
        new AclCommands(server).register(table);
        new ClientCommands(server).register(table);
        new ServerCommands(server).register(table);
        new ConfigCommands(server).register(table);
        new ObjectCommands(server).register(table);
        new MemoryCommands(server).register(table);
        new ObservationCommands(server).register(table);
        CommandTable complete = table.build(server.config().renames());
        server.commands(complete);
        return complete;
    }
}
