package io.varve.server.command.connection;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

import io.varve.server.acl.Account;
import io.varve.server.command.Blocking;
import io.varve.server.command.Client;
import io.varve.server.command.ClientLine;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandSpec;
import io.varve.server.command.CommandTable;
import io.varve.server.command.HelpText;
import io.varve.server.command.Invocation;
import io.varve.server.command.ServerContext;
import org.jspecify.annotations.Nullable;

import static io.varve.server.command.CommandFlag.ADMIN;
import static io.varve.server.command.CommandFlag.LOADING;
import static io.varve.server.command.CommandFlag.NOSCRIPT;
import static io.varve.server.command.CommandFlag.STALE;

/** CLIENT. Immutable. */
public final class ClientCommands {
    private final ServerContext server;

    public ClientCommands(ServerContext server) {
        this.server = server;
    }

    /** Adds the family. */
    public void register(CommandTable.Builder table) {
        CommandBuilder client = CommandSpec.named("client").arity(-2).group("connection").since("2.4.0")
                .complexity("Depends on subcommand.").summary("Tells of connections, and changes them.")
                .subcommand(plain("id", 2, "5.0.0", "The number of this connection.")
                        .handler(call -> call.reply().integer(call.client().id())))
                .subcommand(plain("info", 2, "6.2.0", "What CLIENT LIST says of this connection.")
                        .tips("nondeterministic_output")
                        .handler(call -> call.reply().verbatim("txt",
                                ClientLine.of(call.client(), now(), call.spec(), call) + "\n")))
                .subcommand(admin("list", -2, "2.4.0", "Lists the connections.").tips("nondeterministic_output")
                        .handler(this::list))
                .subcommand(plain("setname", 3, "2.6.9", "Names this connection.").handler(this::setName))
                .subcommand(plain("getname", 2, "2.6.9", "The name of this connection.").handler(this::getName))
                .subcommand(plain("setinfo", 4, "7.2.0", "Notes which library is connected.").handler(this::setInfo))
                .subcommand(admin("kill", -3, "2.4.0", "Closes connections.").handler(this::kill))
                .subcommand(admin("no-evict", 3, "7.0.0", "Spares this connection when clients are evicted.")
                        .handler(call -> onOrOff(call, call.client()::noEvict)))
                .subcommand(plain("no-touch", 3, "7.2.0", "Keeps this connection's reads from counting as use.")
                        .handler(call -> onOrOff(call, off -> {
                            call.client().noTouch(off);
                            call.session().touching(!off);
                        })))
                .subcommand(plain("unblock", -3, "5.0.0", "Ends the waiting of a connection.").flags(ADMIN)
                        .complexity("O(log N) where N is the number of client connections")
                        .handler(Blocking::unblock))
                .subcommand(plain("reply", 3, "3.2.0", "Says whether replies are wanted.").handler(this::reply))
                .subcommand(HelpText.describe("connection", "5.0.0").categories("@connection")
                        .handler(ClientCommands::help));
        new TrackingCommands(server).addTo(client);
        table.add(client);
    }

    static CommandBuilder plain(String name, int arity, String since, String summary) {
        return CommandSpec.named(name).arity(arity).group("connection").since(since).summary(summary)
                .flags(NOSCRIPT, LOADING, STALE).categories("@connection");
    }

    private static CommandBuilder admin(String name, int arity, String since, String summary) {
        return plain(name, arity, since, summary).flags(ADMIN)
                .complexity("O(N) where N is the number of client connections");
    }

    private void list(Invocation call) {
        List<Client> clients = server.clients().all();
        if (call.argumentCount() == 4 && call.argumentIs(2, "TYPE")) {
            String type = call.argumentString(3);
            Predicate<Client> ofType = typeFilter(call, type);
            if (ofType == null) {
                return;
            }
            clients.removeIf(ofType.negate());
        } else if (call.argumentCount() > 3 && call.argumentIs(2, "ID")) {
            List<Client> wanted = new ArrayList<>();
            for (int i = 3; i < call.argumentCount(); i++) {
                if (!call.requireLong(i, "ERR Invalid client ID")) {
                    return;
                }
                Client client = server.clients().find(call.longValue());
                if (client != null) {
                    wanted.add(client);
                }
            }
            clients = wanted;
        } else if (call.argumentCount() != 2) {
            call.syntaxError();
            return;
        }
        StringBuilder text = new StringBuilder();
        long now = now();
        // What the others did last is noted when their batch has run; who asks does so now.
        clients.forEach(client -> text.append(client == call.client()
                ? ClientLine.of(client, now, call.spec(), call)
                : ClientLine.of(client, now)).append('\n'));
        call.reply().verbatim("txt", text.toString());
    }

    /** Null, and an error replied, if there is no such type. */
    private static @Nullable Predicate<Client> typeFilter(Invocation call, String type) {
        return switch (type.toLowerCase(java.util.Locale.ROOT)) {
            case "normal" -> client -> !client.isListening();
            case "pubsub" -> Client::isListening;
            case "master", "replica", "slave" -> _ -> false;
            default -> {
                call.reply().error("ERR Unknown client type '" + type + "'");
                yield null;
            }
        };
    }

    private long now() {
        return server.ticker().wallMillis();
    }

    private void setName(Invocation call) {
        String name = call.argumentString(2);
        String error = ConnectionCommands.nameError(name, "Client names");
        if (error != null) {
            call.reply().error(error);
            return;
        }
        call.client().name(name);
        call.reply().ok();
    }

    private void getName(Invocation call) {
        if (call.client().name().isEmpty()) {
            call.reply().nil();
        } else {
            call.reply().bulkText(call.client().name());
        }
    }

    private void setInfo(Invocation call) {
        String attribute = call.argumentString(2);
        boolean name = call.argumentIs(2, "LIB-NAME");
        if (!name && !call.argumentIs(2, "LIB-VER")) {
            call.reply().error("ERR Unrecognized option '" + attribute + "'");
            return;
        }
        String value = call.argumentString(3);
        String error = ConnectionCommands.nameError(value, name ? "lib-name" : "lib-ver");
        if (error != null) {
            call.reply().error(error);
            return;
        }
        if (name) {
            call.client().libraryName(value);
        } else {
            call.client().libraryVersion(value);
        }
        call.reply().ok();
    }

    private void kill(Invocation call) {
        if (call.argumentCount() == 3) {
            String address = call.argumentString(2);
            List<Client> victims = server.clients().all().stream().filter(c -> c.address().equals(address)).toList();
            if (victims.isEmpty()) {
                call.reply().error("ERR No such client");
                return;
            }
            call.reply().ok();
            victims.forEach(victim -> victim.closeFor(call.client()));
            return;
        }
        Predicate<Client> filter = killFilter(call);
        if (filter == null) {
            return;
        }
        List<Client> victims = server.clients().all().stream().filter(filter).toList();
        call.reply().integer(victims.size());
        victims.forEach(victim -> victim.closeFor(call.client()));
    }

    /** Null, and an error replied, if the filters make no sense. */
    private @Nullable Predicate<Client> killFilter(Invocation call) {
        Predicate<Client> filter = _ -> true;
        boolean skipMe = true;
        for (int i = 2; i < call.argumentCount(); i += 2) {
            if (i + 1 >= call.argumentCount()) {
                call.syntaxError();
                return null;
            }
            String value = call.argumentString(i + 1);
            if (call.argumentIs(i, "ID")) {
                if (!call.isLong(i + 1) || call.longValue() < 1) {
                    call.reply().error("ERR client-id should be greater than 0");
                    return null;
                }
                long id = call.longValue();
                filter = filter.and(client -> client.id() == id);
            } else if (call.argumentIs(i, "TYPE")) {
                Predicate<Client> ofType = typeFilter(call, value);
                if (ofType == null) {
                    return null;
                }
                filter = filter.and(ofType);
            } else if (call.argumentIs(i, "ADDR")) {
                filter = filter.and(client -> client.address().equals(value));
            } else if (call.argumentIs(i, "LADDR")) {
                filter = filter.and(client -> client.localAddress().equals(value));
            } else if (call.argumentIs(i, "USER")) {
                String name = new String(call.argumentBytes(i + 1), StandardCharsets.ISO_8859_1);
                Account account = server.access().find(name);
                if (account == null) {
                    call.reply().error("ERR No such user '" + value + "'");
                    return null;
                }
                filter = filter.and(client -> client.account() == account);
            } else if (call.argumentIs(i, "SKIPME")
                    && (value.equalsIgnoreCase("yes") || value.equalsIgnoreCase("no"))) {
                skipMe = value.equalsIgnoreCase("yes");
            } else if (call.argumentIs(i, "MAXAGE")) {
                if (!call.isLong(i + 1)) {
                    call.reply().error("ERR maxage is not an integer or out of range");
                    return null;
                }
                if (call.longValue() < 1) {
                    call.reply().error("ERR maxage should be greater than 0");
                    return null;
                }
                // What is older than the epoch nobody is.
                long seconds = Math.min(call.longValue(), server.ticker().wallMillis() / 1000);
                long oldestMillis = server.ticker().wallMillis() - seconds * 1000;
                filter = filter.and(client -> client.createdMillis() <= oldestMillis);
            } else {
                call.syntaxError();
                return null;
            }
        }
        Client me = call.client();
        return skipMe ? filter.and(client -> client != me) : filter;
    }

    /** Takes a switch. */
    private interface Switch {
        void set(boolean on);
    }

    private static void onOrOff(Invocation call, Switch target) {
        if (call.argumentIs(2, "ON")) {
            target.set(true);
        } else if (call.argumentIs(2, "OFF")) {
            target.set(false);
        } else {
            call.syntaxError();
            return;
        }
        call.reply().ok();
    }

    private void reply(Invocation call) {
        Client client = call.client();
        if (call.argumentIs(2, "ON")) {
            client.replyMode(Client.ReplyMode.ON);
            call.reply().ok();
        } else if (call.argumentIs(2, "OFF")) {
            client.replyMode(Client.ReplyMode.OFF);
        } else if (call.argumentIs(2, "SKIP")) {
            // Within OFF it changes nothing.
            if (client.replyMode() != Client.ReplyMode.OFF) {
                client.replyMode(Client.ReplyMode.SKIP_NEXT);
            }
        } else {
            call.syntaxError();
        }
    }

    private static void help(Invocation call) {
        HelpText.reply(call.reply(), "CLIENT", "CACHING (YES|NO)",
                "    Enable/disable tracking of the keys for next command in OPTIN/OPTOUT modes.", "GETREDIR",
                "    Return the client ID we are redirecting to when tracking is enabled.", "GETNAME",
                "    Return the name of the current connection.", "ID",
                "    Return the ID of the current connection.", "INFO",
                "    Return information about the current client connection.", "KILL <ip:port>",
                "    Kill connection made from <ip:port>.", "KILL <option> <value> [<option> <value> [...]]",
                "    Kill connections. Options are: ADDR, LADDR, TYPE, USER, SKIPME, ID, MAXAGE.",
                "LIST [options ...]", "    Return information about client connections. Options: TYPE, ID.",
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
