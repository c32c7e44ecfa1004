package io.varve.server.command.connection;

import java.nio.charset.StandardCharsets;

import io.varve.memory.CacheSession;
import io.varve.server.acl.AccessControl;
import io.varve.server.acl.Account;
import io.varve.server.command.Arguments;
import io.varve.server.command.Client;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandSpec;
import io.varve.server.command.CommandTable;
import io.varve.server.command.DatabaseNumber;
import io.varve.server.command.Invocation;
import io.varve.server.command.ServerContext;
import io.varve.server.command.Version;
import io.varve.server.resp.ReplyWriter;
import org.jspecify.annotations.Nullable;

import static io.varve.server.command.CommandFlag.ALLOW_BUSY;
import static io.varve.server.command.CommandFlag.FAST;
import static io.varve.server.command.CommandFlag.LOADING;
import static io.varve.server.command.CommandFlag.NOSCRIPT;
import static io.varve.server.command.CommandFlag.NO_AUTH;
import static io.varve.server.command.CommandFlag.STALE;

/** Who a client is and how it is spoken to: HELLO, AUTH, PING, ECHO, SELECT, RESET, QUIT. Immutable. */
public final class ConnectionCommands {
    /** Names of connections are kept on the heap. */
    private static final int MAX_NAME_CHARS = 256;
    private static final String GROUP = "connection";
    private static final String CATEGORY = "@connection";
    private static final String WRONG_PASSWORD = "WRONGPASS invalid username-password pair or user is disabled.";

    private final ServerContext server;

    public ConnectionCommands(ServerContext server) {
        this.server = server;
    }

    /** Adds the family. */
    public void register(CommandTable.Builder table) {
        table.add(describe("ping").arity(-1).flags(FAST).summary("Answers PONG, or the argument if there is one.")
                .tips("request_policy:all_shards", "response_policy:all_succeeded").allowedWhileListening()
                .handler(ConnectionCommands::ping));
        table.add(describe("echo").arity(2).flags(LOADING, STALE, FAST).summary("Answers its argument.")
                .handler(call -> call.reply().bulk(call.argumentAddress(1), call.argumentLength(1))));
        table.add(describe("quit").arity(-1).flags(NOSCRIPT, LOADING, STALE, FAST, NO_AUTH, ALLOW_BUSY)
                .summary("Closes the connection.").runsAtOnce().allowedWhileListening()
                .handler(ConnectionCommands::quit));
        table.add(describe("select").arity(2).flags(LOADING, STALE, FAST).summary("Selects a database by its number.")
                .handler(this::select));
        table.add(describe("auth").arity(-2).flags(NOSCRIPT, LOADING, STALE, FAST, NO_AUTH, ALLOW_BUSY)
                .complexity("O(N) where N is the number of passwords of the user").summary("Authenticates the client.")
                .secrets((_, index) -> index >= 1).handler(this::auth));
        table.add(describe("hello").arity(-1).flags(NOSCRIPT, LOADING, STALE, FAST, NO_AUTH, ALLOW_BUSY).since("6.0.0")
                .summary("Agrees on the protocol, and authenticates and names the client on the way.")
                .secrets(ConnectionCommands::isSecretOfHello).handler(this::hello));
        table.add(describe("reset").arity(1).flags(NOSCRIPT, LOADING, STALE, FAST, NO_AUTH, ALLOW_BUSY).since("6.2.0")
                .summary("Puts the connection back into the state it had when it was new.").runsAtOnce()
                .allowedWhileListening()
                .handler(this::reset));
    }

    private static CommandBuilder describe(String name) {
        return CommandSpec.named(name).group(GROUP).categories(CATEGORY);
    }

    private static void ping(Invocation call) {
        if (call.client().isListeningOnly() && call.argumentCount() <= 2) {
            pingAmongMessages(call);
            return;
        }
        switch (call.argumentCount()) {
            case 1 -> call.reply().simple("PONG");
            case 2 -> call.reply().bulk(call.argumentAddress(1), call.argumentLength(1));
            default -> call.wrongArgumentCount();
        }
    }

    /** In the form of a message, as everything that a client gets which listens in RESP2. */
    private static void pingAmongMessages(Invocation call) {
        call.reply().array(2);
        call.reply().bulkAscii("pong");
        if (call.argumentCount() == 2) {
            call.reply().bulk(call.argumentAddress(1), call.argumentLength(1));
        } else {
            call.reply().bulkAscii("");
        }
    }

    private static void quit(Invocation call) {
        call.reply().ok();
        call.client().closeAfterReply();
    }

    private void select(Invocation call) {
        int database = DatabaseNumber.read(call, 1);
        if (database >= 0) {
            call.client().database(database);
            call.reply().ok();
        }
    }

    private void auth(Invocation call) {
        if (call.argumentCount() > 3) {
            call.syntaxError();
            return;
        }
        boolean named = call.argumentCount() == 3;
        if (!named && server.access().defaultAccount().user().needsNoPassword()) {
            call.reply().error("ERR AUTH <password> called without any password configured for the default user. "
                    + "Are you sure your configuration is correct?");
            return;
        }
        if (authenticate(call, named ? 1 : 0, named ? 2 : 1)) {
            call.reply().ok();
        } else {
            call.reply().error(WRONG_PASSWORD);
        }
    }

    /** @param userArgument 0 for the default user */
    private boolean authenticate(Invocation call, int userArgument, int passwordArgument) {
        String name = userArgument > 0
                ? new String(call.argumentBytes(userArgument), StandardCharsets.ISO_8859_1)
                : AccessControl.DEFAULT;
        Account account = server.access().authenticate(name, call.argumentBytes(passwordArgument));
        if (account == null) {
            String command = new String(call.argumentBytes(0), StandardCharsets.ISO_8859_1);
            server.accessGuard().noteFailedLogin(command, name, call);
            return false;
        }
        call.client().login(account);
        if (account.isDeleted()) {
            // Just now, and who deleted it may not have seen us.
            call.client().logout(server.access().defaultAccount());
            return false;
        }
        return true;
    }

    /** The name and the password behind AUTH, or behind what may have been meant so. */
    private static boolean isSecretOfHello(Arguments arguments, int index) {
        return index > 1 && arguments.argumentIs(index - 1, "AUTH")
                || index > 2 && arguments.argumentIs(index - 2, "AUTH");
    }

    private void hello(Invocation call) {
        int protocol = call.client().protocol();
        int next = 1;
        if (call.argumentCount() > 1) {
            if (!call.requireLong(1, "ERR Protocol version is not an integer or out of range")) {
                return;
            }
            if (call.longValue() < 2 || call.longValue() > 3) {
                call.reply().error("NOPROTO unsupported protocol version");
                return;
            }
            protocol = (int) call.longValue();
            next = 2;
        }
        int userArgument = 0;
        int nameArgument = 0;
        for (int i = next; i < call.argumentCount(); i++) {
            int more = call.argumentCount() - 1 - i;
            if (call.argumentIs(i, "AUTH") && more >= 2) {
                userArgument = i + 1;
                i += 2;
            } else if (call.argumentIs(i, "SETNAME") && more >= 1) {
                nameArgument = i + 1;
                String error = nameError(call.argumentString(i + 1), "Client names");
                if (error != null) {
                    call.reply().error(error);
                    return;
                }
                i++;
            } else {
                call.reply().error("ERR Syntax error in HELLO option '" + call.argumentString(i) + "'");
                return;
            }
        }
        if (userArgument > 0 && !authenticate(call, userArgument, userArgument + 1)) {
            call.reply().error(WRONG_PASSWORD);
            return;
        }
        Client client = call.client();
        if (!client.authenticated()) {
            call.reply().error("NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO "
                    + "<proto> AUTH <user> <pass> option can be used to authenticate the client and select the RESP "
                    + "protocol version at the same time");
            return;
        }
        if (nameArgument > 0) {
            client.name(call.argumentString(nameArgument));
        }
        client.protocol(protocol);
        call.reply().protocol(protocol);
        replyHello(call.reply(), client);
    }

    private static void replyHello(ReplyWriter reply, Client client) {
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
        reply.bulkAscii("standalone");
        reply.bulkAscii("role");
        reply.bulkAscii("master");
        reply.bulkAscii("modules");
        reply.array(0);
    }

    /** What is wrong with a client's name or library; null if nothing is. */
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

    private void reset(Invocation call) {
        Client client = call.client();
        client.endTransaction();
        server.stopTracking(client);
        client.subscriptions().clear();
        client.database(0);
        client.protocol(2);
        client.name("");
        client.replyMode(Client.ReplyMode.ON);
        client.noEvict(false);
        client.noTouch(false);
        client.writesInto(CacheSession.AUTOMATIC);
        client.logout(server.access().defaultAccount());
        call.session().touching(true);
        call.session().writesInto(CacheSession.AUTOMATIC);
        call.reply().protocol(2);
        call.reply().simple("RESET");
    }
}
