package io.varve.server.acl;

import java.util.List;
import java.util.Locale;

/** A few commands: get, set, select, config with get and set, auth. Immutable. */
final class StubNames implements CommandNames {
    private static final List<String> NAMES = List.of("get", "set", "select", "config", "config|get", "config|set",
            "auth");
    private static final List<List<String>> CATEGORIES = List.of(List.of("read", "string", "fast"),
            List.of("write", "string", "slow"), List.of("fast", "connection"), List.of("slow"),
            List.of("admin", "slow", "dangerous"), List.of("admin", "slow", "dangerous"),
            List.of("fast", "connection"));

    @Override
    public int count() {
        return NAMES.size();
    }

    @Override
    public int find(String name) {
        return NAMES.indexOf(name.toLowerCase(Locale.ROOT));
    }

    @Override
    public String name(int command) {
        return NAMES.get(command);
    }

    @Override
    public boolean isSubcommand(int command) {
        return NAMES.get(command).contains("|");
    }

    @Override
    public int[] subcommands(int command) {
        return NAMES.get(command).equals("config") ? new int[] {4, 5} : new int[0];
    }

    @Override
    public List<String> categories(int command) {
        return CATEGORIES.get(command);
    }
}
