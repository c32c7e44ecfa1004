package io.varve.server.command.registry;

import io.varve.server.command.CommandTable;
import io.varve.server.command.ServerState;
import io.varve.server.command.acl.AclCommands;
import io.varve.server.command.bitmap.BitmapCommands;
import io.varve.server.command.cluster.ClusterCommands;
import io.varve.server.command.connection.ClientCommands;
import io.varve.server.command.connection.ConnectionCommands;
import io.varve.server.command.dump.CopyCommands;
import io.varve.server.command.dump.DumpCommands;
import io.varve.server.command.geo.GeoCommands;
import io.varve.server.command.hash.HashCommands;
import io.varve.server.command.hyperloglog.HyperLogLogCommands;
import io.varve.server.command.introspection.CommandCommands;
import io.varve.server.command.introspection.DebugCommands;
import io.varve.server.command.introspection.DiagnosticCommands;
import io.varve.server.command.introspection.MemoryCommands;
import io.varve.server.command.introspection.ObjectCommands;
import io.varve.server.command.key.KeyCommands;
import io.varve.server.command.key.ScanCommands;
import io.varve.server.command.list.ListCommands;
import io.varve.server.command.persistence.FullSynchronization;
import io.varve.server.command.persistence.LogControl;
import io.varve.server.command.persistence.PersistenceCommands;
import io.varve.server.command.persistence.SnapshotSaver;
import io.varve.server.command.pubsub.PubSubCommands;
import io.varve.server.command.script.FunctionCommands;
import io.varve.server.command.script.ScriptCommands;
import io.varve.server.command.server.ConfigCommands;
import io.varve.server.command.server.ServerCommands;
import io.varve.server.command.set.SetCommands;
import io.varve.server.command.sort.SortCommands;
import io.varve.server.command.sortedset.SortedSetCommands;
import io.varve.server.command.stream.StreamCommands;
import io.varve.server.command.stream.group.GroupCommands;
import io.varve.server.command.string.StringCommands;
import io.varve.server.command.transaction.TransactionCommands;
import io.varve.server.command.varve.CurveCommands;
import io.varve.server.command.varve.HotKeyCommands;
import io.varve.server.command.varve.PenaltyCommands;
import io.varve.server.command.varve.PinCommands;
import io.varve.server.command.varve.ReplicateCommands;

/** The list of all command families. Immutable: static methods only. */
public final class CommandFamilies {
    private CommandFamilies() {}

    /** Builds the table of all commands for one server. */
    public static CommandTable table(ServerState server) {
        server.snapshots(new SnapshotSaver(server));
        server.logLifecycle(new LogControl(server));
        server.replicas().synchronizer(new FullSynchronization(server));
        CommandTable.Builder table = CommandTable.builder();
        StringCommands.addTo(table);
        KeyCommands.addTo(table);
        new ScanCommands(server).register(table);
        SortCommands.addTo(table);
        DumpCommands.addTo(table);
        HashCommands.addTo(table);
        ListCommands.addTo(table);
        SetCommands.addTo(table);
        BitmapCommands.addTo(table);
        HyperLogLogCommands.addTo(table);
        SortedSetCommands.addTo(table);
        GeoCommands.addTo(table);
        StreamCommands.addTo(table);
        GroupCommands.addTo(table);
        TransactionCommands.addTo(table);
        new ScriptCommands(server).register(table);
        new FunctionCommands(server).register(table);
        new PubSubCommands(server.notifications().channels()).register(table);
        new CommandCommands(server).register(table);
        new ConnectionCommands(server).register(table);
        new AclCommands(server).register(table);
        new ClientCommands(server).register(table);
        new ServerCommands(server).register(table);
        new PersistenceCommands(server).register(table);
        new ConfigCommands(server).register(table);
        ObjectCommands.addTo(table);
        new DebugCommands(server).register(table);
        new MemoryCommands(server).register(table);
        new DiagnosticCommands(server).register(table);
        ClusterCommands.addTo(table, server);
        CurveCommands.addTo(table);
        PenaltyCommands.addTo(table);
        PinCommands.addTo(table);
        HotKeyCommands.addTo(table);
        ReplicateCommands.addTo(table);
        CopyCommands.addTo(table);
        CommandTable complete = table.build(server.config().renames());
        server.commands(complete);
        return complete;
    }
}
