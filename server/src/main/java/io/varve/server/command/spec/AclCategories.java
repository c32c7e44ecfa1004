package io.varve.server.command.spec;

import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** The ACL categories of commands. Immutable: static methods only. */
final class AclCategories {
    /** All ACL categories, in the order in which Redis lists those of a command. */
    private static final List<String> ORDER = List.of("@keyspace", "@read", "@write", "@set", "@sortedset",
            "@list", "@hash", "@string", "@bitmap", "@hyperloglog", "@geo", "@stream", "@pubsub", "@admin", "@fast",
            "@slow", "@blocking", "@dangerous", "@connection", "@transaction", "@scripting");

    private AclCategories() {}

    /**
     * Derives the categories of a command from its flags and the declared ones.
     *
     * @param named the categories beyond those that follow from the flags
     */
    static List<String> of(EnumSet<CommandFlag> flags, List<String> named) {
        Set<String> all = new TreeSet<>(Comparator.comparingInt(AclCategories::rank));
        if (flags.contains(CommandFlag.WRITE)) {
            all.add("@write");
        }
        // As in Redis, a script that only reads is no read.
        if (flags.contains(CommandFlag.READONLY) && !named.contains("@scripting")) {
            all.add("@read");
        }
        all.addAll(named);
        if (flags.contains(CommandFlag.ADMIN)) {
            all.add("@admin");
            all.add("@dangerous");
        }
        if (flags.contains(CommandFlag.PUBSUB)) {
            all.add("@pubsub");
        }
        all.add(flags.contains(CommandFlag.FAST) ? "@fast" : "@slow");
        if (flags.contains(CommandFlag.BLOCKING)) {
            all.add("@blocking");
        }
        return List.copyOf(all);
    }

    private static int rank(String category) {
        int rank = ORDER.indexOf(category);
        if (rank < 0) {
            throw new IllegalStateException("There is no ACL category " + category);
        }
        return rank;
    }
}
