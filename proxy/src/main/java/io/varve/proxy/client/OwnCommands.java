package io.varve.proxy.client;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Locale;
import java.util.stream.Collectors;

import io.varve.server.command.Errors;
import io.varve.server.command.Version;
import io.varve.server.command.spec.CommandErrors;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.resp.Numbers;
import io.varve.server.resp.ReplyWriter;
import org.jspecify.annotations.Nullable;

/** Commands that the proxy answers without a member: about the connection, and INFO. Confined to an event loop. */
final class OwnCommands {
    private static final String WRONG_PASSWORD = "WRONGPASS invalid username-password pair or user is disabled.";
    private static final String NO_PASSWORD = "ERR AUTH <password> called without any password configured for the"
            + " default user. Are you sure your configuration is correct?";
    private static final String HELLO_NOAUTH = "NOAUTH HELLO must be called with the client already authenticated,"
            + " otherwise the HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and select"
            + " the RESP protocol version at the same time";
    private static final String WHILE_LISTENING = "ERR The proxy cannot change the protocol of a client that has"
            + " subscribed";
    private static final String NO_CLUSTER = "ERR This instance has cluster support disabled";
    private static final int RESP2 = 2;
    private static final int RESP3 = 3;
    private static final int USER_AND_PASSWORD = 3;

    private final ProxyLoop loop;
    private final ClientConnection client;

    OwnCommands(ProxyLoop loop, ClientConnection client) {
        this.loop = loop;
        this.client = client;
    }

    /**
     * Answers a command.
     *
     * @param reset forgets the state of the client beside its profile
     * @return false if the request has to wait until all earlier ones have their replies
     */
    boolean run(Request request, CommandSpec spec, ClientTransaction transaction, Runnable reset) {
        CommandSpec parent = spec.parent();
        switch (parent == null ? spec.name() : parent.name()) {
            case "ping" -> ping(request, spec);
            case "echo" -> client.reply(reply -> reply.bulk(request.argumentAddress(1), request.argumentLength(1)));
            case "hello" -> {
                if (client.hasPendingReplies()) {
                    // The next requests may take other lanes.
                    return false;
                }
                hello(request);
            }
            case "auth" -> auth(request);
            case "select" -> select(request);
            case "client" -> client(request, spec);
            case "info" -> client.reply(reply -> reply.verbatim("txt", InfoReport.of(loop.proxy(), request)));
            case "cluster" -> client.replyError(NO_CLUSTER);
            case "quit" -> {
                client.reply(ReplyWriter::ok);
                client.closeAfterReplies();
            }
            default -> {
                if (client.hasPendingReplies()) {
                    return false;
                }
                transaction.close();
                reset.run();
                reset();
            }
        }
        return true;
    }

    private void reset() {
        ClientProfile profile = client.profile();
        profile.protocol(RESP2);
        profile.name("");
        profile.authenticated(password().isEmpty());
        client.reply(reply -> reply.simple("RESET"));
    }

    private String password() {
        return loop.proxy().settings().password();
    }

    private void ping(Request request, CommandSpec spec) {
        int count = request.argumentCount();
        if (count > 2) {
            client.replyError(CommandErrors.wrongCount(spec));
            return;
        }
        boolean isMessage = client.profile().isListening() && client.protocol() == RESP2;
        client.reply(reply -> {
            if (isMessage) {
                reply.array(2);
                reply.bulkAscii("pong");
            }
            if (count == 2) {
                reply.bulk(request.argumentAddress(1), request.argumentLength(1));
            } else if (isMessage) {
                reply.bulkAscii("");
            } else {
                reply.simple("PONG");
            }
        });
    }

    private void select(Request request) {
        long address = request.argumentAddress(1);
        int length = request.argumentLength(1);
        if (!Numbers.isLong(address, length)) {
            client.replyError(Errors.NOT_AN_INTEGER);
        } else if (Numbers.toLong(address, length) != 0) {
            client.replyError("ERR SELECT is not allowed in cluster mode");
        } else {
            client.reply(ReplyWriter::ok);
        }
    }

    // --- authentication

    private void auth(Request request) {
        if (request.argumentCount() > USER_AND_PASSWORD) {
            client.replyError(Errors.SYNTAX_ERROR);
            return;
        }
        boolean isNamed = request.argumentCount() == USER_AND_PASSWORD;
        if (!isNamed && password().isEmpty()) {
            client.replyError(NO_PASSWORD);
        } else if (authenticate(isNamed ? request.text(1) : "default", request.text(isNamed ? 2 : 1))) {
            client.reply(ReplyWriter::ok);
        } else {
            client.replyError(WRONG_PASSWORD);
        }
    }

    private boolean authenticate(String user, String given) {
        boolean isRight = user.equals("default") && (password().isEmpty()
                || MessageDigest.isEqual(password().getBytes(StandardCharsets.UTF_8),
                        given.getBytes(StandardCharsets.UTF_8)));
        if (isRight) {
            client.profile().authenticated(true);
        }
        return isRight;
    }

    private void hello(Request request) {
        int protocol = client.protocol();
        if (request.argumentCount() > 1) {
            long address = request.argumentAddress(1);
            if (!Numbers.isLong(address, request.argumentLength(1))) {
                client.replyError("ERR Protocol version is not an integer or out of range");
                return;
            }
            long wanted = Numbers.toLong(address, request.argumentLength(1));
            if (wanted < RESP2 || wanted > RESP3) {
                client.replyError("NOPROTO unsupported protocol version");
                return;
            }
            protocol = (int) wanted;
        }
        String name = null;
        for (int i = 2; i < request.argumentCount(); i++) {
            int more = request.argumentCount() - 1 - i;
            if (request.argumentIs(i, "AUTH") && more >= 2) {
                if (!authenticate(request.text(i + 1), request.text(i + 2))) {
                    client.replyError(WRONG_PASSWORD);
                    return;
                }
                i += 2;
            } else if (request.argumentIs(i, "SETNAME") && more >= 1) {
                name = request.text(++i);
            } else {
                client.replyError("ERR Syntax error in HELLO option '" + request.text(i) + "'");
                return;
            }
        }
        welcome(protocol, name);
    }

    private void welcome(int protocol, @Nullable String name) {
        ClientProfile profile = client.profile();
        String nameError = name == null ? null : nameError(name, "Client names");
        if (!profile.isAuthenticated()) {
            client.replyError(HELLO_NOAUTH);
        } else if (nameError != null) {
            client.replyError(nameError);
        } else if (protocol != profile.protocol() && profile.isListening()) {
            client.replyError(WHILE_LISTENING);
        } else {
            profile.name(name == null ? profile.name() : name);
            profile.protocol(protocol);
            client.reply(this::replyHello);
        }
    }

    private void replyHello(ReplyWriter reply) {
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

    // --- CLIENT

    private void client(Request request, CommandSpec spec) {
        ClientProfile profile = client.profile();
        switch (spec.name()) {
            case "id" -> client.reply(reply -> reply.integer(client.id()));
            case "getname" -> client.reply(reply -> {
                if (profile.name().isEmpty()) {
                    reply.nil();
                } else {
                    reply.bulkText(profile.name());
                }
            });
            case "setname" -> setName(request.text(2));
            case "setinfo" -> setInfo(request);
            case "info" -> client.reply(reply -> reply.verbatim("txt", profile.line() + "\n"));
            case "list" -> list(request);
            case "no-evict", "no-touch" -> client.replyError("ERR The proxy does not serve 'client|" + spec.name()
                    + "': its connections to members are shared");
            default -> client.replyError("ERR The proxy does not serve '" + spec.fullName() + "'");
        }
    }

    private void setName(String name) {
        String error = nameError(name, "Client names");
        if (error != null) {
            client.replyError(error);
            return;
        }
        client.profile().name(name);
        client.reply(ReplyWriter::ok);
    }

    private void setInfo(Request request) {
        String attribute = request.text(2);
        String value = request.text(3);
        String error = nameError(value, attribute.toLowerCase(Locale.ROOT));
        if (!request.argumentIs(2, "LIB-NAME") && !request.argumentIs(2, "LIB-VER")) {
            client.replyError("ERR Unrecognized option '" + attribute + "'");
        } else if (error != null) {
            client.replyError(error);
        } else {
            if (request.argumentIs(2, "LIB-NAME")) {
                client.profile().library(value);
            } else {
                client.profile().libraryVersion(value);
            }
            client.reply(ReplyWriter::ok);
        }
    }

    private void list(Request request) {
        if (request.argumentCount() > 2) {
            client.replyError(Errors.SYNTAX_ERROR);
            return;
        }
        String lines = loop.proxy().clients().values().stream().map(each -> each.profile().line() + "\n")
                .collect(Collectors.joining());
        client.reply(reply -> reply.verbatim("txt", lines));
    }

    /** The error in a name; null if it is valid. */
    private static @Nullable String nameError(String name, String what) {
        return name.chars().allMatch(c -> c >= '!' && c <= '~')
                ? null
                : "ERR " + what + " cannot contain spaces, newlines or special characters.";
    }
}
