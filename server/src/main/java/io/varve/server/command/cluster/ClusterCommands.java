package io.varve.server.command.cluster;

import java.util.List;
import java.util.function.BiConsumer;

import io.varve.server.clustering.ClusterState;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Handler;
import io.varve.server.command.HelpText;
import io.varve.server.command.ServerState;

import static io.varve.server.command.spec.CommandFlag.ADMIN;
import static io.varve.server.command.spec.CommandFlag.FAST;
import static io.varve.server.command.spec.CommandFlag.LOADING;
import static io.varve.server.command.spec.CommandFlag.NOSCRIPT;
import static io.varve.server.command.spec.CommandFlag.NO_ASYNC_LOADING;
import static io.varve.server.command.spec.CommandFlag.STALE;

/**
 * CLUSTER, READONLY, READWRITE and ASKING. Immutable: static handlers. A server outside any cluster refuses them.
 */
public final class ClusterCommands {
    private static final String SINCE = "3.0.0";
    private static final String UNPREDICTABLE = "nondeterministic_output";
    private static final String HELP = """
            ADDSLOTS <slot> [<slot> ...]
                Assign slots to current node.
            ADDSLOTSRANGE <start slot> <end slot> [<start slot> <end slot> ...]
                Assign slots which are between <start-slot> and <end-slot> to current node.
            BUMPEPOCH
                Advance the cluster config epoch.
            COUNT-FAILURE-REPORTS <node-id>
                Return number of failure reports for <node-id>.
            COUNTKEYSINSLOT <slot>
                Return the number of keys in <slot>.
            DELSLOTS <slot> [<slot> ...]
                Delete slots information from current node.
            DELSLOTSRANGE <start slot> <end slot> [<start slot> <end slot> ...]
                Delete slots information which are between <start-slot> and <end-slot> from current node.
            FAILOVER [FORCE|TAKEOVER]
                Promote current replica node to being a master.
            FORGET <node-id>
                Remove a node from the cluster.
            GETKEYSINSLOT <slot> <count>
                Return key names stored by current node in a slot.
            FLUSHSLOTS
                Delete current node own slots information.
            INFO
                Return information about the cluster.
            KEYSLOT <key>
                Return the hash slot for <key>.
            MEET <ip> <port> [<bus-port>]
                Connect nodes into a working cluster.
            MYID
                Return the node id.
            NODES
                Return cluster configuration seen by node. Output format:
                <id> <ip:port> <flags> <master> <pings> <pongs> <epoch> <link> <slot> ...
            REPLICATE <node-id>
                Configure current node as replica to <node-id>.
            RESET [HARD|SOFT]
                Reset current node (default: soft).
            SET-CONFIG-EPOCH <epoch>
                Set config epoch of current node.
            SETSLOT <slot> (IMPORTING <node-id>|MIGRATING <node-id>|STABLE|NODE <node-id>)
                Set slot state.
            REPLICAS <node-id>
                Return <node-id> replicas.
            SAVECONFIG
                Force saving cluster configuration on disk.
            SLOTS
                Return information about slots range mappings. Each range is made of:
                start, end, master and replicas IP addresses, ports and ids
            SHARDS
                Return information about slot range mappings and the nodes associated with them.
            LINKS
                Return information about all network links between this node and its peers.
                Output format is an array where each array element is a map containing attributes of a link
            """;

    /** A subcommand; {@code tip} may be empty. */
    private record Subcommand(String name, int arity, String since, String tip, String summary,
            BiConsumer<CommandContext, ClusterState> handler) {}

    /** The subcommands that change the cluster. */
    private static final List<Subcommand> CHANGES = List.of(
            new Subcommand("addslots", -3, SINCE, "", "Assigns hash slots to this member", SlotChanges::addSlots),
            new Subcommand("addslotsrange", -4, "7.0.0", "", "Assigns ranges of hash slots to this member",
                    SlotChanges::addRanges),
            new Subcommand("bumpepoch", 2, SINCE, UNPREDICTABLE, "Advances the epoch of this member",
                    SlotChanges::bumpEpoch),
            new Subcommand("delslots", -3, SINCE, "", "Sets hash slots as unassigned", SlotChanges::deleteSlots),
            new Subcommand("delslotsrange", -4, "7.0.0", "", "Sets ranges of hash slots as unassigned",
                    SlotChanges::deleteRanges),
            new Subcommand("failover", -2, SINCE, "", "Makes this replica the primary, without a loss of writes",
                    SlotChanges::failover),
            new Subcommand("flushslots", 2, SINCE, "", "Sets all hash slots of this member as unassigned",
                    SlotChanges::flushSlots),
            new Subcommand("forget", 3, SINCE, "", "Not available: `varve cluster` removes members",
                    SlotChanges::forget),
            new Subcommand("meet", -4, SINCE, "", "Not available: `varve cluster` joins members", SlotChanges::meet),
            new Subcommand("replicate", 3, SINCE, "", "Not available: `varve cluster` assigns replicas",
                    SlotChanges::forget),
            new Subcommand("saveconfig", 2, SINCE, "", "Saves the ID and the slot map", SlotChanges::saveConfig),
            new Subcommand("set-config-epoch", 3, SINCE, "", "Sets the epoch of a new member",
                    SlotChanges::setEpoch),
            new Subcommand("setslot", -4, SINCE, "", "Begins or ends to move a hash slot", SlotChanges::setSlot));

    private static final List<Subcommand> REPORTS_FOR_OPERATORS = List.of(
            new Subcommand("count-failure-reports", 3, SINCE, UNPREDICTABLE, "Returns 0: members report no failures",
                    ClusterReports::failureReports),
            new Subcommand("replicas", 3, "5.0.0", UNPREDICTABLE, "Lists the replicas of a member",
                    ClusterReports::replicas),
            new Subcommand("slaves", 3, SINCE, UNPREDICTABLE, "Lists the replicas of a member",
                    ClusterReports::replicas));

    private static final List<Subcommand> REPORTS = List.of(
            new Subcommand("countkeysinslot", 3, SINCE, "", "Counts the keys of a hash slot",
                    ClusterReports::countKeys),
            new Subcommand("getkeysinslot", 4, SINCE, UNPREDICTABLE, "Returns keys of a hash slot",
                    ClusterReports::keys),
            new Subcommand("info", 2, SINCE, UNPREDICTABLE, "Returns the state of the cluster", ClusterReports::info),
            new Subcommand("keyslot", 3, SINCE, "", "Returns the hash slot of a key", ClusterReports::keySlot),
            new Subcommand("links", 2, "7.0.0", UNPREDICTABLE, "Returns no links: there is no cluster bus",
                    ClusterReports::links),
            new Subcommand("myid", 2, SINCE, "", "Returns the ID of this member", ClusterReports::myId),
            new Subcommand("myshardid", 2, "7.2.0", UNPREDICTABLE, "Returns the ID of this member's primary",
                    ClusterReports::myShardId),
            new Subcommand("nodes", 2, SINCE, UNPREDICTABLE, "Lists the members", ClusterReports::nodes));

    private static final List<Subcommand> REPORTS_WHILE_LOADING = List.of(
            new Subcommand("shards", 2, "7.0.0", UNPREDICTABLE, "Lists hash slots and members by primary",
                    ClusterReports::shards),
            new Subcommand("slots", 2, SINCE, UNPREDICTABLE, "Lists ranges of hash slots with their members",
                    ClusterReports::slots));

    private ClusterCommands() {}

    /** Adds this family's commands. */
    public static void addTo(CommandTable.Builder table, ServerState server) {
        ClusterState member = server.cluster();
        if (member != null) {
            member.listener(new MapChanges(server, member));
        }
        table.add(describe("readonly", 1, SINCE).flags(FAST, LOADING, STALE).categories("@connection")
                .summary("Enables read-only queries on a replica of a cluster").handler(of((context, _) -> {
                    context.client().readsFromReplica(true);
                    context.reply().ok();
                })));
        table.add(describe("readwrite", 1, SINCE).flags(FAST, LOADING, STALE).categories("@connection")
                .summary("Disables read-only queries on a replica of a cluster").handler(of((context, _) -> {
                    context.client().readsFromReplica(false);
                    context.reply().ok();
                })));
        table.add(describe("asking", 1, SINCE).flags(FAST).categories("@connection")
                .summary("Announces that the client follows an -ASK redirect").handler(of((context, _) -> {
                    context.client().asking(true);
                    context.reply().ok();
                })));
        CommandBuilder cluster = CommandBuilder.named("cluster").group("cluster").arity(-2).since(SINCE)
                .complexity("Depends on subcommand.").summary("A container for cluster commands");
        CHANGES.forEach(sub -> cluster.subcommand(of(sub).flags(NO_ASYNC_LOADING, ADMIN, STALE)));
        cluster.subcommand(of(new Subcommand("reset", -2, SINCE, "", "Forgets slots and other members",
                SlotChanges::reset)).flags(ADMIN, STALE, NOSCRIPT));
        REPORTS_FOR_OPERATORS.forEach(sub -> cluster.subcommand(of(sub).flags(ADMIN, STALE)));
        REPORTS.forEach(sub -> cluster.subcommand(of(sub).flags(STALE)));
        REPORTS_WHILE_LOADING.forEach(sub -> cluster.subcommand(of(sub).flags(LOADING, STALE)));
        table.add(cluster.subcommand(HelpText.describe("cluster", "5.0.0").handler(of(ClusterCommands::help))));
    }

    private static CommandBuilder of(Subcommand sub) {
        CommandBuilder builder = describe(sub.name(), sub.arity(), sub.since()).summary(sub.summary())
                .handler(of(sub.handler()));
        return sub.tip().isEmpty() ? builder : builder.tips(sub.tip());
    }

    private static CommandBuilder describe(String name, int arity, String since) {
        return CommandBuilder.named(name).group("cluster").arity(arity).since(since);
    }

    /** The handler for a member of a cluster; other servers refuse the command. */
    private static Handler of(BiConsumer<CommandContext, ClusterState> handler) {
        return context -> {
            ClusterState cluster = context.server().cluster();
            if (cluster == null) {
                context.reply().error("ERR This instance has cluster support disabled");
            } else {
                handler.accept(context, cluster);
            }
        };
    }

    private static void help(CommandContext context, ClusterState cluster) {
        HelpText.reply(context.reply(), "CLUSTER", HELP.lines().toArray(String[]::new));
    }
}
