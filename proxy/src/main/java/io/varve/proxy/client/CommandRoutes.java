package io.varve.proxy.client;

import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.varve.server.command.CommandTable;
import io.varve.server.command.spec.CommandFlag;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.command.spec.CommandTrait;

/** What the proxy does with each command. Immutable. */
final class CommandRoutes {
    /** What to do with a command. */
    enum Route {
        /** To the member of its slot; to any member if its arguments name no key. */
        FORWARD,
        /** As {@link #FORWARD}, and the answer may be shared: GET. */
        GET,
        /** As {@link #FORWARD}, on a connection of its own: it may wait. */
        BLOCKING,
        /** To the members of its keys, and one reply is made of theirs. */
        MGET, MSET, COUNT_KEYS,
        /** To any member. */
        ANY,
        /** To all members. */
        FLUSH, DBSIZE, KEYS, RANDOMKEY, SCAN,
        /** Answered by the proxy. */
        OWN,
        /** Transactions. */
        TRANSACTION,
        /** Subscriptions. */
        SUBSCRIPTION,
        /** To the member of its channel. */
        PUBLISH,
        /** Not served. */
        REFUSED
    }

    private static final Map<Route, List<String>> NAMED = named();

    private final Route[] byId;

    CommandRoutes(CommandTable commands) {
        Map<String, Route> byName = new HashMap<>();
        NAMED.forEach((route, names) -> names.forEach(name -> byName.put(name, route)));
        byId = new Route[commands.all().size()];
        for (CommandSpec spec : commands.all()) {
            CommandSpec parent = spec.parent();
            Route route = byName.get(spec.fullName());
            if (route == null && parent != null) {
                route = byName.get(parent.name());
            }
            byId[spec.id()] = route == null ? generalRoute(spec) : route;
        }
    }

    private static Map<Route, List<String>> named() {
        Map<Route, List<String>> names = new EnumMap<>(Route.class);
        names.put(Route.GET, List.of("get"));
        names.put(Route.MGET, List.of("mget"));
        names.put(Route.MSET, List.of("mset"));
        names.put(Route.COUNT_KEYS, List.of("del", "exists", "unlink", "touch"));
        names.put(Route.ANY, List.of("command", "time"));
        names.put(Route.FLUSH, List.of("flushall", "flushdb"));
        names.put(Route.DBSIZE, List.of("dbsize"));
        names.put(Route.KEYS, List.of("keys"));
        names.put(Route.RANDOMKEY, List.of("randomkey"));
        names.put(Route.SCAN, List.of("scan"));
        names.put(Route.OWN, List.of("ping", "echo", "hello", "auth", "client", "info", "select", "quit", "reset",
                "cluster"));
        names.put(Route.TRANSACTION, List.of("multi", "exec", "discard", "watch", "unwatch"));
        names.put(Route.SUBSCRIPTION, List.of("subscribe", "psubscribe", "ssubscribe", "unsubscribe", "punsubscribe",
                "sunsubscribe"));
        names.put(Route.PUBLISH, List.of("publish", "spublish"));
        names.put(Route.REFUSED, List.of("migrate", "move"));
        return names;
    }

    private static Route generalRoute(CommandSpec spec) {
        if (!spec.namesKeys() || spec.has(CommandTrait.DEBUG_ONLY)) {
            return Route.REFUSED;
        }
        return spec.has(CommandFlag.BLOCKING) ? Route.BLOCKING : Route.FORWARD;
    }

    Route of(CommandSpec spec) {
        return byId[spec.id()];
    }
}
