package io.varve.server.command.connection;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

import io.varve.server.acl.Account;
import io.varve.server.command.ClientPause;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.HelpText;
import io.varve.server.command.ServerState;
import io.varve.server.command.blocking.Blocking;
import io.varve.server.command.session.Client;
import io.varve.server.command.session.ClientLine;
import io.varve.server.command.spec.CommandTrait;
import org.jspecify.annotations.Nullable;

import static io.varve.server.command.spec.CommandFlag.ADMIN;
import static io.varve.server.command.spec.CommandFlag.LOADING;
import static io.varve.server.command.spec.CommandFlag.NOSCRIPT;
import static io.varve.server.command.spec.CommandFlag.STALE;

/** CLIENT: the state of this and other connections. Immutable. */
public final class ClientCommands {
    /** Three hundred years. A later end does not fit into the clock. */
    private static final long MAX_PAUSE_MILLIS = Long.MAX_VALUE / 1_000_000;

    private final ServerState server;

    public ClientCommands(ServerState server) {
        this.server = server;
    }

    /** Adds this family's commands. */
    public void register(CommandTable.Builder table) {
        CommandBuilder client = CommandBuilder.named("client").arity(-2).group("connection").since("2.4.0")
                .complexity("Depends on subcommand.").summary("A container for client connection commands")
                .subcommand(plain("id", 2, "5.0.0", "Returns the ID of this connection")
                        .handler(context -> context.reply().integer(context.client().id())))
                .subcommand(plain("info", 2, "6.2.0", "Returns information about this connection")
                        .tips("nondeterministic_output")
                        .handler(context -> context.reply().verbatim("txt",
                                ClientLine.of(context.client(), now(), context.spec(), context) + "\n")))
                .subcommand(admin("list", -2, "2.4.0", "Lists the client connections").tips("nondeterministic_output")
                        .handler(this::list))
                .subcommand(plain("setname", 3, "2.6.9", "Sets the name of this connection").handler(this::setName))
                .subcommand(plain("getname", 2, "2.6.9", "Returns the name of this connection").handler(this::getName))
                .subcommand(plain("setinfo", 4, "7.2.0", "Sets information about the client library of this connection")
                        .handler(this::setInfo))
                .subcommand(admin("kill", -3, "2.4.0", "Closes client connections").handler(this::kill))
                .subcommand(admin("no-evict", 3, "7.0.0", "Exempts this connection from client eviction")
                        .handler(context -> onOrOff(context, context.client()::noEvict)))
                .subcommand(
                        plain("no-touch", 3, "7.2.0", "Excludes this connection's commands from LRU and LFU statistics")
                                .handler(context -> onOrOff(context, off -> {
                                    context.client().noTouch(off);
                                    context.session().touching(!off);
                                })))
                .subcommand(
                        plain("unblock", -3, "5.0.0", "Unblocks a client that waits in a blocking command").flags(ADMIN)
                                .complexity("O(log N) where N is the number of client connections")
                                .handler(Blocking::unblock))
                .subcommand(
                        plain("pause", -3, "2.9.50", "Holds the commands of clients for a time").flags(ADMIN)
                                .traits(CommandTrait.AWAITS_COMMANDS).handler(this::pause))
                .subcommand(plain("unpause", 2, "6.2.0", "Ends the pause of clients").flags(ADMIN)
                        .complexity("O(N) where N is the number of paused clients").handler(context -> {
                            server.pause().end();
                            context.reply().ok();
                        }))
                .subcommand(plain("reply", 3, "3.2.0", "Sets whether the server replies to this connection")
                        .handler(this::reply))
                .subcommand(HelpText.describe("connection", "5.0.0").categories("@connection")
                        .handler(ClientCommands::help));
        new TrackingCommands(server).addTo(client);
        table.add(client);
    }

    static CommandBuilder plain(String name, int arity, String since, String summary) {
        return CommandBuilder.named(name).arity(arity).group("connection").since(since).summary(summary)
                .flags(NOSCRIPT, LOADING, STALE).categories("@connection");
    }

    private static CommandBuilder admin(String name, int arity, String since, String summary) {
        return plain(name, arity, since, summary).flags(ADMIN)
                .complexity("O(N) where N is the number of client connections");
    }

    private void list(CommandContext context) {
        List<Client> clients = server.lifecycle().clients().all();
        if (context.argumentCount() == 4 && context.argumentIs(2, "TYPE")) {
            String type = context.argumentString(3);
            Predicate<Client> ofType = typeFilter(context, type);
            if (ofType == null) {
                return;
            }
            clients.removeIf(ofType.negate());
        } else if (context.argumentCount() > 3 && context.argumentIs(2, "ID")) {
            List<Client> wanted = new ArrayList<>();
            for (int i = 3; i < context.argumentCount(); i++) {
                if (!context.requireLong(i, "ERR Invalid client ID")) {
                    return;
                }
                Client client = server.lifecycle().clients().find(context.longValue());
                if (client != null) {
                    wanted.add(client);
                }
            }
            clients = wanted;
        } else if (context.argumentCount() != 2) {
            context.syntaxError();
            return;
        }
        StringBuilder text = new StringBuilder();
        long now = now();
        // The last command of the others is recorded at the end of their batch; the caller's own is shown live.
        clients.forEach(client -> text.append(client == context.client()
                ? ClientLine.of(client, now, context.spec(), context)
                : ClientLine.of(client, now)).append('\n'));
        context.reply().verbatim("txt", text.toString());
    }

    /** Filters clients by type; null, and an error replied, if the type is unknown. */
    private static @Nullable Predicate<Client> typeFilter(CommandContext context, String type) {
        return switch (type.toLowerCase(java.util.Locale.ROOT)) {
            case "normal" -> client -> !client.isListening() && !client.isReplica();
            case "pubsub" -> Client::isListening;
            case "replica", "slave" -> Client::isReplica;
            case "master" -> _ -> false;
            default -> {
                context.reply().error("ERR Unknown client type '" + type + "'");
                yield null;
            }
        };
    }

    private long now() {
        return server.ticker().wallMillis();
    }

    private void setName(CommandContext context) {
        String name = context.argumentString(2);
        String error = ConnectionCommands.nameError(name, "Client names");
        if (error != null) {
            context.reply().error(error);
            return;
        }
        context.client().name(name);
        context.reply().ok();
    }

    private void getName(CommandContext context) {
        if (context.client().name().isEmpty()) {
            context.reply().nil();
        } else {
            context.reply().bulkText(context.client().name());
        }
    }

    private void setInfo(CommandContext context) {
        String attribute = context.argumentString(2);
        boolean name = context.argumentIs(2, "LIB-NAME");
        if (!name && !context.argumentIs(2, "LIB-VER")) {
            context.reply().error("ERR Unrecognized option '" + attribute + "'");
            return;
        }
        String value = context.argumentString(3);
        String error = ConnectionCommands.nameError(value, name ? "lib-name" : "lib-ver");
        if (error != null) {
            context.reply().error(error);
            return;
        }
        if (name) {
            context.client().libraryName(value);
        } else {
            context.client().libraryVersion(value);
        }
        context.reply().ok();
    }

    private void kill(CommandContext context) {
        if (context.argumentCount() == 3) {
            String address = context.argumentString(2);
            List<Client> victims = server.lifecycle().clients().all().stream().filter(c -> c.address().equals(address))
                    .toList();
            if (victims.isEmpty()) {
                context.reply().error("ERR No such client");
                return;
            }
            context.reply().ok();
            victims.forEach(victim -> victim.closeFor(context.client()));
            return;
        }
        Predicate<Client> filter = killFilter(context);
        if (filter == null) {
            return;
        }
        List<Client> victims = server.lifecycle().clients().all().stream().filter(filter).toList();
        context.reply().integer(victims.size());
        victims.forEach(victim -> victim.closeFor(context.client()));
    }

    /** Parses the filters of CLIENT KILL; null, and an error replied, if they are invalid. */
    private @Nullable Predicate<Client> killFilter(CommandContext context) {
        Predicate<Client> filter = _ -> true;
        boolean skipMe = true;
        for (int i = 2; i < context.argumentCount(); i += 2) {
            if (i + 1 >= context.argumentCount()) {
                context.syntaxError();
                return null;
            }
            String value = context.argumentString(i + 1);
            if (context.argumentIs(i, "ID")) {
                if (!context.isLong(i + 1) || context.longValue() < 1) {
                    context.reply().error("ERR client-id should be greater than 0");
                    return null;
                }
                long id = context.longValue();
                filter = filter.and(client -> client.id() == id);
            } else if (context.argumentIs(i, "TYPE")) {
                Predicate<Client> ofType = typeFilter(context, value);
                if (ofType == null) {
                    return null;
                }
                filter = filter.and(ofType);
            } else if (context.argumentIs(i, "ADDR")) {
                filter = filter.and(client -> client.address().equals(value));
            } else if (context.argumentIs(i, "LADDR")) {
                filter = filter.and(client -> client.localAddress().equals(value));
            } else if (context.argumentIs(i, "USER")) {
                String name = new String(context.argumentBytes(i + 1), StandardCharsets.ISO_8859_1);
                Account account = server.access().find(name);
                if (account == null) {
                    context.reply().error("ERR No such user '" + value + "'");
                    return null;
                }
                filter = filter.and(client -> client.account() == account);
            } else if (context.argumentIs(i, "SKIPME")
                    && (value.equalsIgnoreCase("yes") || value.equalsIgnoreCase("no"))) {
                skipMe = value.equalsIgnoreCase("yes");
            } else if (context.argumentIs(i, "MAXAGE")) {
                if (!context.isLong(i + 1)) {
                    context.reply().error("ERR maxage is not an integer or out of range");
                    return null;
                }
                if (context.longValue() < 1) {
                    context.reply().error("ERR maxage should be greater than 0");
                    return null;
                }
                // No client is older than the epoch.
                long seconds = Math.min(context.longValue(), server.ticker().wallMillis() / 1000);
                long oldestMillis = server.ticker().wallMillis() - seconds * 1000;
                filter = filter.and(client -> client.createdMillis() <= oldestMillis);
            } else {
                context.syntaxError();
                return null;
            }
        }
        Client me = context.client();
        return skipMe ? filter.and(client -> client != me) : filter;
    }

    private void pause(CommandContext context) {
        ClientPause.Mode mode = ClientPause.Mode.ALL;
        if (context.argumentCount() > 4) {
            context.reply()
                    .error("ERR unknown subcommand or wrong number of arguments for '" + context.argumentString(1)
                            + "'. Try CLIENT HELP.");
            return;
        }
        if (context.argumentCount() == 4) {
            if (context.argumentIs(3, "WRITE")) {
                mode = ClientPause.Mode.WRITE;
            } else if (!context.argumentIs(3, "ALL")) {
                context.reply().error("ERR CLIENT PAUSE mode must be WRITE or ALL");
                return;
            }
        }
        if (!context.requireLong(2, "ERR timeout is not an integer or out of range")) {
            return;
        }
        long millis = context.longValue();
        if (millis < 0) {
            context.reply().error("ERR timeout is negative");
        } else if (millis > MAX_PAUSE_MILLIS) {
            context.reply().error("ERR timeout is out of range");
        } else {
            // It holds all shards: after its reply, no write changes anything.
            server.pause().begin(mode, millis);
            context.reply().ok();
        }
    }

    /** Receives an on/off setting. */
    private interface OnOffSetting {
        void set(boolean on);
    }

    private static void onOrOff(CommandContext context, OnOffSetting target) {
        if (context.argumentIs(2, "ON")) {
            target.set(true);
        } else if (context.argumentIs(2, "OFF")) {
            target.set(false);
        } else {
            context.syntaxError();
            return;
        }
        context.reply().ok();
    }

    private void reply(CommandContext context) {
        Client client = context.client();
        if (context.argumentIs(2, "ON")) {
            client.replyMode(Client.ReplyMode.ON);
            context.reply().ok();
        } else if (context.argumentIs(2, "OFF")) {
            client.replyMode(Client.ReplyMode.OFF);
        } else if (context.argumentIs(2, "SKIP")) {
            // In OFF mode, SKIP has no effect.
            if (client.replyMode() != Client.ReplyMode.OFF) {
                client.replyMode(Client.ReplyMode.SKIP_NEXT);
            }
        } else {
            context.syntaxError();
        }
    }

    private static void help(CommandContext context) {
        HelpText.reply(context.reply(), "CLIENT", "CACHING (YES|NO)",
                "    Enable/disable tracking of the keys for next command in OPTIN/OPTOUT modes.", "GETREDIR",
                "    Return the client ID we are redirecting to when tracking is enabled.", "GETNAME",
                "    Return the name of the current connection.", "ID",
                "    Return the ID of the current connection.", "INFO",
                "    Return information about the current client connection.", "KILL <ip:port>",
                "    Kill connection made from <ip:port>.", "KILL <option> <value> [<option> <value> [...]]",
                "    Kill connections. Options are: ADDR, LADDR, TYPE, USER, SKIPME, ID, MAXAGE.",
                "LIST [options ...]", "    Return information about client connections. Options: TYPE, ID.",
                "UNPAUSE", "    Stop the current client pause, resuming traffic.", "PAUSE <timeout> [WRITE|ALL]",
                "    Suspend all, or just write, clients for <timeout> milliseconds.",
                "REPLY (ON|OFF|SKIP)", "    Control the replies sent to the current connection.", "SETNAME <name>",
                "    Assign the name <name> to the current connection.", "SETINFO <option> <value>",
                "    Set client meta attributes: LIB-NAME, LIB-VER.",
                "UNBLOCK <clientid> [TIMEOUT|ERROR]",
                "    Unblock the specified blocked client.",
                "TRACKING (ON|OFF) [REDIRECT <id>] [BCAST] [PREFIX <prefix> [...]]",
                "         [OPTIN] [OPTOUT] [NOLOOP]", "    Control server assisted client side caching.",
                "TRACKINGINFO",
                "    Report tracking status for the current connection.", "NO-EVICT (ON|OFF)",
                "    Protect current client connection from eviction.", "NO-TOUCH (ON|OFF)",
                "    Will not touch LRU/LFU stats when this mode is on.");
    }
}
