package io.varve.server.config;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The directives of a configuration beside its settings: users and renamed commands. Immutable.
 *
 * @param users the users in the order of the file
 * @param renames the new name of each renamed command; empty if the command is disabled
 */
record Directives(List<UserLine> users, Map<String, String> renames) {
    static final Directives NONE = new Directives(List.of(), Map.of());

    Directives {
        users = List.copyOf(users);
        renames = java.util.Collections.unmodifiableMap(new LinkedHashMap<>(renames));
    }

    Directives withUser(UserLine user) {
        List<UserLine> more = new ArrayList<>(users);
        more.add(user);
        return new Directives(more, renames);
    }

    Directives withRename(String from, String to) {
        Map<String, String> more = new LinkedHashMap<>(renames);
        more.put(from, to);
        return new Directives(users, more);
    }

    Directives withoutUsers() {
        return new Directives(List.of(), renames);
    }
}
