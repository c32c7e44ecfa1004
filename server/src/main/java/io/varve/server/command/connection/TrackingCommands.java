package io.varve.server.command.connection;

import java.util.ArrayList;
import java.util.List;

import io.varve.server.command.Client;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.Errors;
import io.varve.server.command.Invocation;
import io.varve.server.command.ServerContext;
import io.varve.server.pubsub.Name;
import io.varve.server.resp.ReplyWriter;
import io.varve.server.tracking.Tracker;
import io.varve.server.tracking.Tracking;
import io.varve.server.tracking.TrackingOptions;
import org.jspecify.annotations.Nullable;

/** The subcommands of CLIENT for clients that cache what they read. Immutable. */
final class TrackingCommands {
    private static final String OTHER_MODE = "before disabling tracking for this client, and then re-enabling it with "
            + "a different mode.";

    private static final String OVERLAP = ". Prefixes for a single client must not overlap.";
    /** What a prefix takes on the heap, here and where it is looked for, beside its bytes. */
    private static final int PREFIX_HEAP_BYTES = 512;

    private final ServerContext server;
    private final Tracking tracking;

    TrackingCommands(ServerContext server) {
        this.server = server;
        tracking = server.tracking();
    }

    void addTo(CommandBuilder client) {
        client.subcommand(
                ClientCommands.plain("tracking", -3, "6.0.0", "Tells this connection of keys that it may have cached.")
                        .complexity("O(1). Some options may introduce additional complexity.").handler(this::tracking))
                .subcommand(
                        ClientCommands.plain("caching", 3, "6.0.0", "Whether the next command's keys may be cached.")
                                .handler(TrackingCommands::caching))
                .subcommand(
                        ClientCommands.plain("getredir", 2, "6.0.0", "Which connection is told in place of this one.")
                                .handler(call -> call.reply().integer(call.client().redirection())))
                .subcommand(ClientCommands.plain("trackinginfo", 2, "6.2.0", "How this connection is told of keys.")
                        .handler(TrackingCommands::info));
    }

    // --- CLIENT TRACKING

    private void tracking(Invocation call) {
        long redirect = 0;
        boolean broadcasts = false;
        boolean optIn = false;
        boolean optOut = false;
        boolean noLoop = false;
        List<Name> prefixes = new ArrayList<>();
        for (int i = 3; i < call.argumentCount(); i++) {
            boolean isLast = i + 1 == call.argumentCount();
            if (call.argumentIs(i, "REDIRECT") && !isLast) {
                i++;
                if (redirect != 0) {
                    call.reply().error("ERR A client can only redirect to a single other client");
                    return;
                }
                if (!call.requireLong(i)) {
                    return;
                }
                redirect = call.longValue();
                if (server.clients().find(redirect) == null) {
                    call.reply().error("ERR The client ID you want redirect to does not exist");
                    return;
                }
            } else if (call.argumentIs(i, "BCAST")) {
                broadcasts = true;
            } else if (call.argumentIs(i, "OPTIN")) {
                optIn = true;
            } else if (call.argumentIs(i, "OPTOUT")) {
                optOut = true;
            } else if (call.argumentIs(i, "NOLOOP")) {
                noLoop = true;
            } else if (call.argumentIs(i, "PREFIX") && !isLast) {
                prefixes.add(Name.at(call.argumentAddress(i + 1), call.argumentLength(i + 1)));
                i++;
            } else {
                call.syntaxError();
                return;
            }
        }
        Client client = call.client();
        if (call.argumentIs(2, "ON")) {
            TrackingOptions asked = new TrackingOptions(redirect, broadcasts, optIn, optOut, noLoop, prefixes);
            String error = error(asked, client.tracker());
            if (error != null) {
                call.reply().error(error);
                return;
            }
            if (!begin(client, asked)) {
                call.reply().error(Errors.OUT_OF_ARGUMENT_MEMORY);
                return;
            }
        } else if (call.argumentIs(2, "OFF")) {
            server.stopTracking(client);
        } else {
            call.syntaxError();
            return;
        }
        call.reply().ok();
    }

    private static @Nullable String error(TrackingOptions asked, @Nullable Tracker tracker) {
        if (!asked.broadcasts() && !asked.prefixes().isEmpty()) {
            return "ERR PREFIX option requires BCAST mode to be enabled";
        }
        TrackingOptions now = tracker == null ? null : tracker.options();
        if (now != null && now.broadcasts() != asked.broadcasts()) {
            return "ERR You can't switch BCAST mode on/off " + OTHER_MODE;
        }
        if (asked.broadcasts() && (asked.optIn() || asked.optOut())) {
            return "ERR OPTIN and OPTOUT are not compatible with BCAST";
        }
        if (asked.optIn() && asked.optOut()) {
            return "ERR You can't specify both OPTIN mode and OPTOUT mode";
        }
        if (now != null && (asked.optIn() && now.optOut() || asked.optOut() && now.optIn())) {
            return "ERR You can't switch OPTIN/OPTOUT mode " + OTHER_MODE;
        }
        return asked.broadcasts() ? overlap(asked.prefixes(), now == null ? List.of() : now.prefixes()) : null;
    }

    private static @Nullable String overlap(List<Name> asked, List<Name> there) {
        for (int i = 0; i < asked.size(); i++) {
            for (Name old : there) {
                if (overlap(asked.get(i), old)) {
                    return "ERR Prefix '" + asked.get(i) + "' overlaps with an existing prefix '" + old + "'" + OVERLAP;
                }
            }
            for (int j = i + 1; j < asked.size(); j++) {
                if (overlap(asked.get(i), asked.get(j))) {
                    return "ERR Prefix '" + asked.get(i) + "' overlaps with another provided prefix '" + asked.get(j)
                            + "'" + OVERLAP;
                }
            }
        }
        return null;
    }

    private static boolean overlap(Name a, Name b) {
        return a.isPrefixOf(b) || b.isPrefixOf(a);
    }

    /** @return false if the heap has no room for the prefixes */
    private boolean begin(Client client, TrackingOptions asked) {
        Tracker tracker = client.tracker();
        List<Name> prefixes = new ArrayList<>(tracker == null ? List.of() : tracker.options().prefixes());
        long taken = 0;
        for (Name prefix : asked.prefixes()) {
            long bytes = PREFIX_HEAP_BYTES + 2L * prefix.length();
            if (!server.argumentMemory().takePiece(bytes)) {
                server.argumentMemory().give(taken);
                return false;
            }
            taken += bytes;
            prefixes.add(prefix.kept());
        }
        Name all = Name.of(new byte[0]);
        if (asked.broadcasts() && asked.prefixes().isEmpty() && !prefixes.contains(all)) {
            prefixes.add(all);
        }
        TrackingOptions options = new TrackingOptions(asked.redirect(), asked.broadcasts(), asked.optIn(),
                asked.optOut(), asked.noLoop(), prefixes);
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

    private static void caching(Invocation call) {
        Tracker tracker = call.client().tracker();
        if (tracker == null) {
            call.reply()
                    .error("ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or "
                            + "OPTOUT mode enabled");
            return;
        }
        boolean yes = call.argumentIs(2, "YES");
        if (yes && !tracker.options().optIn()) {
            call.reply().error("ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.");
        } else if (!yes && !call.argumentIs(2, "NO")) {
            call.syntaxError();
        } else if (!yes && !tracker.options().optOut()) {
            call.reply().error("ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.");
        } else {
            tracker.caching(true);
            call.reply().ok();
        }
    }

    // --- CLIENT TRACKINGINFO

    private static void info(Invocation call) {
        Tracker tracker = call.client().tracker();
        TrackingOptions options = tracker == null ? null : tracker.options();
        ReplyWriter reply = call.reply();
        reply.map(3);
        reply.bulkAscii("flags");
        List<String> flags = flags(tracker);
        reply.set(flags.size());
        flags.forEach(reply::bulkAscii);
        reply.bulkAscii("redirect");
        reply.integer(call.client().redirection());
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
