package io.varve.server.command.server;

import java.util.List;

import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.HelpText;

import static io.varve.server.command.spec.CommandFlag.ADMIN;
import static io.varve.server.command.spec.CommandFlag.FAST;
import static io.varve.server.command.spec.CommandFlag.LOADING;
import static io.varve.server.command.spec.CommandFlag.NOSCRIPT;
import static io.varve.server.command.spec.CommandFlag.NO_ASYNC_LOADING;
import static io.varve.server.command.spec.CommandFlag.STALE;

/** CLUSTER, READONLY, READWRITE and ASKING, as replied by a server outside any cluster. Immutable: static handlers. */
final class ClusterCommands {
    private static final String SINCE = "3.0.0";
    private static final String UNPREDICTABLE = "nondeterministic_output";

    /** A subcommand; {@code tip} may be empty. */
    private record Subcommand(String name, int arity, String since, String tip) {}

    /** The subcommands that change the cluster. */
    private static final List<Subcommand> CHANGES = List.of(new Subcommand("addslots", -3, SINCE, ""),
            new Subcommand("addslotsrange", -4, "7.0.0", ""), new Subcommand("bumpepoch", 2, SINCE, UNPREDICTABLE),
            new Subcommand("delslots", -3, SINCE, ""), new Subcommand("delslotsrange", -4, "7.0.0", ""),
            new Subcommand("failover", -2, SINCE, ""), new Subcommand("flushslots", 2, SINCE, ""),
            new Subcommand("forget", 3, SINCE, ""), new Subcommand("meet", -4, SINCE, ""),
            new Subcommand("replicate", 3, SINCE, ""), new Subcommand("saveconfig", 2, SINCE, ""),
            new Subcommand("set-config-epoch", 3, SINCE, ""), new Subcommand("setslot", -4, SINCE, ""));

    private static final List<Subcommand> REPORTS_FOR_OPERATORS = List.of(
            new Subcommand("count-failure-reports", 3, SINCE, UNPREDICTABLE),
            new Subcommand("replicas", 3, "5.0.0", UNPREDICTABLE), new Subcommand("slaves", 3, SINCE, UNPREDICTABLE));

    private static final List<Subcommand> REPORTS = List.of(new Subcommand("countkeysinslot", 3, SINCE, ""),
            new Subcommand("getkeysinslot", 4, SINCE, UNPREDICTABLE), new Subcommand("info", 2, SINCE, UNPREDICTABLE),
            new Subcommand("keyslot", 3, SINCE, ""), new Subcommand("links", 2, "7.0.0", UNPREDICTABLE),
            new Subcommand("myid", 2, SINCE, ""), new Subcommand("myshardid", 2, "7.2.0", UNPREDICTABLE),
            new Subcommand("nodes", 2, SINCE, UNPREDICTABLE));

    private static final List<Subcommand> REPORTS_WHILE_LOADING = List.of(
            new Subcommand("shards", 2, "7.0.0", UNPREDICTABLE), new Subcommand("slots", 2, SINCE, UNPREDICTABLE));

    private ClusterCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(describe("readonly", 1, SINCE).flags(FAST, LOADING, STALE).categories("@connection")
                .summary("Enables read-only queries on a replica of a cluster"));
        table.add(describe("readwrite", 1, SINCE).flags(FAST, LOADING, STALE).categories("@connection")
                .summary("Disables read-only queries on a replica of a cluster"));
        table.add(describe("asking", 1, SINCE).flags(FAST).categories("@connection")
                .summary("Announces that the client follows an -ASK redirect"));
        CommandBuilder cluster = CommandBuilder.named("cluster").group("cluster").arity(-2).since(SINCE)
                .complexity("Depends on subcommand.")
                .summary("A container for cluster commands; this server has no cluster support");
        CHANGES.forEach(sub -> cluster.subcommand(of(sub).flags(NO_ASYNC_LOADING, ADMIN, STALE)));
        cluster.subcommand(of(new Subcommand("reset", -2, SINCE, "")).flags(ADMIN, STALE, NOSCRIPT));
        REPORTS_FOR_OPERATORS.forEach(sub -> cluster.subcommand(of(sub).flags(ADMIN, STALE)));
        REPORTS.forEach(sub -> cluster.subcommand(of(sub).flags(STALE)));
        REPORTS_WHILE_LOADING.forEach(sub -> cluster.subcommand(of(sub).flags(LOADING, STALE)));
        table.add(cluster.subcommand(HelpText.describe("cluster", "5.0.0").handler(ClusterCommands::refuse)));
    }

    private static CommandBuilder of(Subcommand sub) {
        CommandBuilder builder = describe(sub.name(), sub.arity(), sub.since())
                .summary("Not available: this server has no cluster support");
        return sub.tip().isEmpty() ? builder : builder.tips(sub.tip());
    }

    private static CommandBuilder describe(String name, int arity, String since) {
        return CommandBuilder.named(name).group("cluster").arity(arity).since(since).handler(ClusterCommands::refuse);
    }

    private static void refuse(CommandContext context) {
        context.reply().error("ERR This instance has cluster support disabled");
    }
}
