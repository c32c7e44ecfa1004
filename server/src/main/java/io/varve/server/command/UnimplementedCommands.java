package io.varve.server.command;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * The commands of Redis 7.4 that Varve does not implement. Immutable: static methods only. ACL rules may name them, so
 * that Varve can read an ACL file made for Redis.
 */
final class UnimplementedCommands {
    /** Full names, grouped by their categories. */
    private static final String NAMES = """
            admin slow dangerous: cluster|addslots cluster|addslotsrange cluster|bumpepoch
            admin slow dangerous: cluster|count-failure-reports cluster|delslots cluster|delslotsrange
            admin slow dangerous: cluster|failover cluster|flushslots cluster|forget cluster|meet
            admin slow dangerous: cluster|replicas cluster|replicate cluster|reset cluster|saveconfig
            admin slow dangerous: cluster|set-config-epoch cluster|setslot cluster|slaves failover module|load
            admin slow dangerous: module|loadex module|unload
            fast connection: asking readonly readwrite
            keyspace write slow dangerous: migrate restore-asking
            slow: cluster cluster|countkeysinslot cluster|getkeysinslot cluster|help cluster|info
            slow: cluster|keyslot cluster|links cluster|myid cluster|myshardid cluster|nodes cluster|shards
            slow: cluster|slots module|help
            """;

    /**
     * An unimplemented command. Immutable.
     *
     * @param name {@code xgroup|create} is a subcommand
     * @param categories without the @
     */
    record Named(String name, List<String> categories) {
        /** The parent command of a subcommand; empty if it is none. */
        String parent() {
            return name.substring(0, Math.max(0, name.indexOf('|')));
        }
    }

    private UnimplementedCommands() {}

    /** Whether Redis has a command of this name that is no subcommand. */
    static boolean isCommand(String name) {
        return NAMES.lines().flatMap(UnimplementedCommands::named)
                .anyMatch(named -> named.name().equals(name) && named.parent().isEmpty());
    }

    /** The commands that a table does not contain. */
    static List<Named> without(CommandTable table) {
        return NAMES.lines().flatMap(UnimplementedCommands::named)
                .filter(named -> table.findOriginal(named.name()) == null).toList();
    }

    private static Stream<Named> named(String line) {
        String[] parts = line.split(": ");
        List<String> categories = List.of(parts[0].split(" "));
        return Arrays.stream(parts[1].split(" ")).map(name -> new Named(name, categories));
    }
}
