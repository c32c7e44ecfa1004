package io.varve.server.command.connection;

import java.util.ArrayList;
import java.util.List;

import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.Errors;
import io.varve.server.command.ServerState;
import io.varve.server.command.session.Client;
import io.varve.server.pubsub.Name;
import io.varve.server.resp.ReplyWriter;
import io.varve.server.tracking.Tracker;
import io.varve.server.tracking.Tracking;
import io.varve.server.tracking.TrackingOptions;
import org.jspecify.annotations.Nullable;

/** The CLIENT subcommands for client-side caching. Immutable. */
final class TrackingCommands {
    private static final String OTHER_MODE = "before disabling tracking for this client, and then re-enabling it with "
            + "a different mode.";

    private static final String OVERLAP = ". Prefixes for a single client must not overlap.";
    /** Heap bytes of a prefix, here and in the prefix index, beside its own bytes. */
    private static final int PREFIX_HEAP_BYTES = 512;

    private final ServerState server;
    private final Tracking tracking;

    TrackingCommands(ServerState server) {
        this.server = server;
        tracking = server.notifications().tracking();
    }

    void addTo(CommandBuilder client) {
        client.subcommand(
                ClientCommands
                        .plain("tracking", -3, "6.0.0", "Enables or disables client-side caching for this connection")
                        .complexity("O(1). Some options may introduce additional complexity.").handler(this::tracking))
                .subcommand(
                        ClientCommands
                                .plain("caching", 3, "6.0.0",
                                        "Sets whether the server tracks the keys of the next command")
                                .handler(TrackingCommands::caching))
                .subcommand(
                        ClientCommands
                                .plain("getredir", 2, "6.0.0",
                                        "Returns the client ID to which invalidation messages are redirected")
                                .handler(context -> context.reply().integer(context.client().redirection())))
                .subcommand(ClientCommands
                        .plain("trackinginfo", 2, "6.2.0", "Returns the client-side caching state of this connection")
                        .handler(TrackingCommands::info));
    }

    // --- CLIENT TRACKING

    private void tracking(CommandContext context) {
        long redirect = 0;
        boolean broadcasts = false;
        boolean optIn = false;
        boolean optOut = false;
        boolean noLoop = false;
        List<Name> prefixes = new ArrayList<>();
        for (int i = 3; i < context.argumentCount(); i++) {
            boolean isLast = i + 1 == context.argumentCount();
            if (context.argumentIs(i, "REDIRECT") && !isLast) {
                i++;
                if (redirect != 0) {
                    context.reply().error("ERR A client can only redirect to a single other client");
                    return;
                }
                if (!context.requireLong(i)) {
                    return;
                }
                redirect = context.longValue();
                if (server.lifecycle().clients().find(redirect) == null) {
                    context.reply().error("ERR The client ID you want redirect to does not exist");
                    return;
                }
            } else if (context.argumentIs(i, "BCAST")) {
                broadcasts = true;
            } else if (context.argumentIs(i, "OPTIN")) {
                optIn = true;
            } else if (context.argumentIs(i, "OPTOUT")) {
                optOut = true;
            } else if (context.argumentIs(i, "NOLOOP")) {
                noLoop = true;
            } else if (context.argumentIs(i, "PREFIX") && !isLast) {
                prefixes.add(Name.at(context.argumentAddress(i + 1), context.argumentLength(i + 1)));
                i++;
            } else {
                context.syntaxError();
                return;
            }
        }
        Client client = context.client();
        if (context.argumentIs(2, "ON")) {
            TrackingOptions requested = new TrackingOptions(redirect, broadcasts, optIn, optOut, noLoop, prefixes);
            String error = error(requested, client.tracker());
            if (error != null) {
                context.reply().error(error);
                return;
            }
            if (!begin(client, requested)) {
                context.reply().error(Errors.OUT_OF_ARGUMENT_MEMORY);
                return;
            }
        } else if (context.argumentIs(2, "OFF")) {
            server.lifecycle().stopTracking(client);
        } else {
            context.syntaxError();
            return;
        }
        context.reply().ok();
    }

    private static @Nullable String error(TrackingOptions requested, @Nullable Tracker tracker) {
        if (!requested.broadcasts() && !requested.prefixes().isEmpty()) {
            return "ERR PREFIX option requires BCAST mode to be enabled";
        }
        TrackingOptions now = tracker == null ? null : tracker.options();
        if (now != null && now.broadcasts() != requested.broadcasts()) {
            return "ERR You can't switch BCAST mode on/off " + OTHER_MODE;
        }
        if (requested.broadcasts() && (requested.optIn() || requested.optOut())) {
            return "ERR OPTIN and OPTOUT are not compatible with BCAST";
        }
        if (requested.optIn() && requested.optOut()) {
            return "ERR You can't specify both OPTIN mode and OPTOUT mode";
        }
        if (now != null && (requested.optIn() && now.optOut() || requested.optOut() && now.optIn())) {
            return "ERR You can't switch OPTIN/OPTOUT mode " + OTHER_MODE;
        }
        return requested.broadcasts() ? overlap(requested.prefixes(), now == null ? List.of() : now.prefixes()) : null;
    }

    private static @Nullable String overlap(List<Name> requested, List<Name> there) {
        for (int i = 0; i < requested.size(); i++) {
            for (Name old : there) {
                if (overlap(requested.get(i), old)) {
                    return "ERR Prefix '" + requested.get(i) + "' overlaps with an existing prefix '" + old + "'"
                            + OVERLAP;
                }
            }
            for (int j = i + 1; j < requested.size(); j++) {
                if (overlap(requested.get(i), requested.get(j))) {
                    return "ERR Prefix '" + requested.get(i) + "' overlaps with another provided prefix '"
                            + requested.get(j)
                            + "'" + OVERLAP;
                }
            }
        }
        return null;
    }

    private static boolean overlap(Name a, Name b) {
        return a.isPrefixOf(b) || b.isPrefixOf(a);
    }

    /** @return false if the heap budget is exhausted */
    private boolean begin(Client client, TrackingOptions requested) {
        Tracker tracker = client.tracker();
        List<Name> prefixes = new ArrayList<>(tracker == null ? List.of() : tracker.options().prefixes());
        long taken = 0;
        for (Name prefix : requested.prefixes()) {
            long bytes = PREFIX_HEAP_BYTES + 2L * prefix.length();
            if (!server.argumentMemory().tryReservePiece(bytes)) {
                server.argumentMemory().release(taken);
                return false;
            }
            taken += bytes;
            prefixes.add(prefix.copy());
        }
        Name all = Name.of(new byte[0]);
        if (requested.broadcasts() && requested.prefixes().isEmpty() && !prefixes.contains(all)) {
            prefixes.add(all);
        }
        TrackingOptions options = new TrackingOptions(requested.redirect(), requested.broadcasts(), requested.optIn(),
                requested.optOut(), requested.noLoop(), prefixes);
        if (tracker == null) {
            tracker = tracking.begin(client.subscriptions(), options);
            client.tracker(tracker);
            tracking.running(tracker);
        } else {
            tracking.change(tracker, options);
        }
        tracker.charge(taken);
        return true;
    }

    // --- CLIENT CACHING

    private static void caching(CommandContext context) {
        Tracker tracker = context.client().tracker();
        if (tracker == null) {
            context.reply()
                    .error("ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or "
                            + "OPTOUT mode enabled");
            return;
        }
        boolean yes = context.argumentIs(2, "YES");
        if (yes && !tracker.options().optIn()) {
            context.reply().error("ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.");
        } else if (!yes && !context.argumentIs(2, "NO")) {
            context.syntaxError();
        } else if (!yes && !tracker.options().optOut()) {
            context.reply().error("ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.");
        } else {
            tracker.caching(true);
            context.reply().ok();
        }
    }

    // --- CLIENT TRACKINGINFO

    private static void info(CommandContext context) {
        Tracker tracker = context.client().tracker();
        TrackingOptions options = tracker == null ? null : tracker.options();
        ReplyWriter reply = context.reply();
        reply.map(3);
        reply.bulkAscii("flags");
        List<String> flags = flags(tracker);
        reply.set(flags.size());
        flags.forEach(reply::bulkAscii);
        reply.bulkAscii("redirect");
        reply.integer(context.client().redirection());
        reply.bulkAscii("prefixes");
        List<Name> prefixes = options == null ? List.of() : options.prefixes();
        reply.array(prefixes.size());
        prefixes.stream().sorted().forEach(prefix -> reply.bulk(prefix.bytes()));
    }

    private static List<String> flags(@Nullable Tracker tracker) {
        if (tracker == null) {
            return List.of("off");
        }
        TrackingOptions options = tracker.options();
        List<String> flags = new ArrayList<>(List.of("on"));
        addIf(flags, options.broadcasts(), "bcast");
        addIf(flags, options.optIn(), "optin");
        addIf(flags, options.optIn() && tracker.isCaching(), "caching-yes");
        addIf(flags, options.optOut(), "optout");
        addIf(flags, options.optOut() && tracker.isCaching(), "caching-no");
        addIf(flags, options.noLoop(), "noloop");
        addIf(flags, tracker.isRedirectionBroken(), "broken_redirect");
        return flags;
    }

    private static void addIf(List<String> flags, boolean is, String flag) {
        if (is) {
            flags.add(flag);
        }
    }
}
