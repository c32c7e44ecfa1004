package io.varve.server.command.connection;

import java.nio.charset.StandardCharsets;

import io.varve.memory.CacheSession;
import io.varve.server.acl.AccessControl;
import io.varve.server.acl.Account;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.ServerState;
import io.varve.server.command.Version;
import io.varve.server.command.session.Client;
import io.varve.server.command.spec.Arguments;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.resp.ReplyWriter;
import org.jspecify.annotations.Nullable;

import static io.varve.server.command.spec.CommandFlag.ALLOW_BUSY;
import static io.varve.server.command.spec.CommandFlag.FAST;
import static io.varve.server.command.spec.CommandFlag.LOADING;
import static io.varve.server.command.spec.CommandFlag.NOSCRIPT;
import static io.varve.server.command.spec.CommandFlag.NO_AUTH;
import static io.varve.server.command.spec.CommandFlag.STALE;

/** The identity and protocol of a client: HELLO, AUTH, PING, ECHO, SELECT, RESET, QUIT. Immutable. */
public final class ConnectionCommands {
    /** Limit of names of connections, which are kept on the heap. */
    private static final int MAX_NAME_CHARS = 256;
    private static final String GROUP = "connection";
    private static final String CATEGORY = "@connection";
    private static final String WRONG_PASSWORD = "WRONGPASS invalid username-password pair or user is disabled.";

    private final ServerState server;

    public ConnectionCommands(ServerState server) {
        this.server = server;
    }

    /** Adds this family's commands. */
    public void register(CommandTable.Builder table) {
        table.add(describe("ping").arity(-1).flags(FAST).summary("Returns PONG, or the argument if given")
                .tips("request_policy:all_shards", "response_policy:all_succeeded")
                .traits(CommandTrait.ALLOWED_WHILE_SUBSCRIBED, CommandTrait.USES_NOTHING)
                .handler(ConnectionCommands::ping));
        table.add(describe("echo").arity(2).flags(LOADING, STALE, FAST).summary("Returns its argument")
                .traits(CommandTrait.USES_NOTHING)
                .handler(context -> context.reply().bulk(context.argumentAddress(1), context.argumentLength(1))));
        table.add(describe("quit").arity(-1).flags(NOSCRIPT, LOADING, STALE, FAST, NO_AUTH, ALLOW_BUSY)
                .summary("Closes the connection")
                .traits(CommandTrait.RUNS_IN_MULTI, CommandTrait.ALLOWED_WHILE_SUBSCRIBED)
                .handler(ConnectionCommands::quit));
        table.add(describe("select").arity(2).flags(LOADING, STALE, FAST).summary("Selects a database by its number")
                .handler(this::select));
        table.add(describe("auth").arity(-2).flags(NOSCRIPT, LOADING, STALE, FAST, NO_AUTH, ALLOW_BUSY)
                .complexity("O(N) where N is the number of passwords of the user").summary("Authenticates the client")
                .secrets((_, index) -> index >= 1).handler(this::auth));
        table.add(describe("hello").arity(-1).flags(NOSCRIPT, LOADING, STALE, FAST, NO_AUTH, ALLOW_BUSY).since("6.0.0")
                .summary("Selects the protocol version; can also authenticate and name the client")
                .secrets(ConnectionCommands::isSecretOfHello).handler(this::hello));
        table.add(describe("reset").arity(1).flags(NOSCRIPT, LOADING, STALE, FAST, NO_AUTH, ALLOW_BUSY).since("6.2.0")
                .summary("Resets the connection to its initial state")
                .traits(CommandTrait.RUNS_IN_MULTI)
                .traits(CommandTrait.ALLOWED_WHILE_SUBSCRIBED)
                .handler(this::reset));
    }

    private static CommandBuilder describe(String name) {
        return CommandBuilder.named(name).group(GROUP).categories(CATEGORY);
    }

    private static void ping(CommandContext context) {
        if (context.client().isListeningOnly() && context.argumentCount() <= 2) {
            pingAmongMessages(context);
            return;
        }
        switch (context.argumentCount()) {
            case 1 -> context.reply().simple("PONG");
            case 2 -> context.reply().bulk(context.argumentAddress(1), context.argumentLength(1));
            default -> context.wrongArgumentCount();
        }
    }

    /** Replies in the form of a message, as RESP2 subscriber mode requires. */
    private static void pingAmongMessages(CommandContext context) {
        context.reply().array(2);
        context.reply().bulkAscii("pong");
        if (context.argumentCount() == 2) {
            context.reply().bulk(context.argumentAddress(1), context.argumentLength(1));
        } else {
            context.reply().bulkAscii("");
        }
    }

    private static void quit(CommandContext context) {
        context.reply().ok();
        context.client().closeAfterReply();
    }

    private void select(CommandContext context) {
        if (server.cluster() != null && context.isLong(1) && (int) context.longValue() == context.longValue()
                && context.longValue() != 0) {
            context.reply().error("ERR SELECT is not allowed in cluster mode");
            return;
        }
        int database = context.requireDatabase(1);
        if (database >= 0) {
            context.client().database(database);
            context.reply().ok();
        }
    }

    private void auth(CommandContext context) {
        if (context.argumentCount() > 3) {
            context.syntaxError();
            return;
        }
        boolean named = context.argumentCount() == 3;
        if (!named && server.access().defaultAccount().user().needsNoPassword()) {
            context.reply().error("ERR AUTH <password> called without any password configured for the default user. "
                    + "Are you sure your configuration is correct?");
            return;
        }
        if (authenticate(context, named ? 1 : 0, named ? 2 : 1)) {
            context.reply().ok();
        } else {
            context.reply().error(WRONG_PASSWORD);
        }
    }

    /** @param userArgument 0 for the default user */
    private boolean authenticate(CommandContext context, int userArgument, int passwordArgument) {
        String name = userArgument > 0
                ? new String(context.argumentBytes(userArgument), StandardCharsets.ISO_8859_1)
                : AccessControl.DEFAULT;
        Account account = server.access().authenticate(name, context.argumentBytes(passwordArgument));
        if (account == null) {
            String command = new String(context.argumentBytes(0), StandardCharsets.ISO_8859_1);
            server.accessGuard().noteFailedLogin(command, name, context);
            return false;
        }
        context.client().login(account);
        if (account.isDeleted()) {
            // The account was deleted a moment ago, and its deleter may not have seen this client.
            context.client().logout(server.access().defaultAccount());
            return false;
        }
        return true;
    }

    /** Covers the name and the password after AUTH, and arguments after a misplaced AUTH. */
    private static boolean isSecretOfHello(Arguments arguments, int index) {
        return index > 1 && arguments.argumentIs(index - 1, "AUTH")
                || index > 2 && arguments.argumentIs(index - 2, "AUTH");
    }

    private void hello(CommandContext context) {
        int protocol = context.client().protocol();
        int next = 1;
        if (context.argumentCount() > 1) {
            if (!context.requireLong(1, "ERR Protocol version is not an integer or out of range")) {
                return;
            }
            if (context.longValue() < 2 || context.longValue() > 3) {
                context.reply().error("NOPROTO unsupported protocol version");
                return;
            }
            protocol = (int) context.longValue();
            next = 2;
        }
        int userArgument = 0;
        int nameArgument = 0;
        for (int i = next; i < context.argumentCount(); i++) {
            int more = context.argumentCount() - 1 - i;
            if (context.argumentIs(i, "AUTH") && more >= 2) {
                userArgument = i + 1;
                i += 2;
            } else if (context.argumentIs(i, "SETNAME") && more >= 1) {
                nameArgument = i + 1;
                String error = nameError(context.argumentString(i + 1), "Client names");
                if (error != null) {
                    context.reply().error(error);
                    return;
                }
                i++;
            } else {
                context.reply().error("ERR Syntax error in HELLO option '" + context.argumentString(i) + "'");
                return;
            }
        }
        if (userArgument > 0 && !authenticate(context, userArgument, userArgument + 1)) {
            context.reply().error(WRONG_PASSWORD);
            return;
        }
        Client client = context.client();
        if (!client.authenticated()) {
            context.reply()
                    .error("NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO "
                            + "<proto> AUTH <user> <pass> option can be used to authenticate the client and select"
                            + " the RESP "
                            + "protocol version at the same time");
            return;
        }
        if (nameArgument > 0) {
            client.name(context.argumentString(nameArgument));
        }
        client.protocol(protocol);
        context.reply().protocol(protocol);
        replyHello(context.reply(), client);
    }

    private void replyHello(ReplyWriter reply, Client client) {
        reply.map(7);
        reply.bulkAscii("server");
        reply.bulkAscii("redis");
        reply.bulkAscii("version");
        reply.bulkAscii(Version.REDIS);
        reply.bulkAscii("proto");
        reply.integer(client.protocol());
        reply.bulkAscii("id");
        reply.integer(client.id());
        reply.bulkAscii("mode");
        reply.bulkAscii(server.cluster() == null ? "standalone" : "cluster");
        reply.bulkAscii("role");
        reply.bulkAscii(server.role().isReplica() ? "replica" : "master");
        reply.bulkAscii("modules");
        reply.array(0);
    }

    /** The error in a client or library name; null if it is valid. */
    static @Nullable String nameError(String name, String what) {
        if (name.length() > MAX_NAME_CHARS) {
            return "ERR " + what + " cannot be longer than " + MAX_NAME_CHARS + " characters.";
        }
        for (int i = 0; i < name.length(); i++) {
            if (name.charAt(i) < '!' || name.charAt(i) > '~') {
                return "ERR " + what + " cannot contain spaces, newlines or special characters.";
            }
        }
        return null;
    }

    private void reset(CommandContext context) {
        Client client = context.client();
        client.endTransaction();
        server.lifecycle().stopTracking(client);
        client.subscriptions().clear();
        client.database(0);
        client.protocol(2);
        client.name("");
        client.replyMode(Client.ReplyMode.ON);
        client.noEvict(false);
        client.noTouch(false);
        client.asking(false);
        client.readsFromReplica(false);
        client.writesInto(CacheSession.AUTOMATIC);
        client.logout(server.access().defaultAccount());
        context.session().touching(true);
        context.session().writesInto(CacheSession.AUTOMATIC);
        context.reply().protocol(2);
        context.reply().simple("RESET");
    }
}
