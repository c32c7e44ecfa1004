package io.varve.server.command.script;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.varve.lua.LuaKilled;
import io.varve.lua.LuaPool;
import io.varve.server.command.CommandHarness;
import io.varve.server.config.ServerConfig;
import io.varve.server.fuzz.StrictReplies;
import io.varve.server.script.RunningScripts;
import io.varve.server.script.Scripting;
import io.varve.server.testing.LeakWatch;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.SettableTicker;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A server without a network that runs any scripts, each for a limited number of steps. Confined to the test's thread;
 * commands run on a thread that has the stack of an event loop.
 *
 * <p>Time passes as scripts look at it. A script that takes long is killed, or stopped if it has written.
 */
final class ScriptSandbox implements AutoCloseable {
    private static final int STACK_BYTES = 8 << 20;
    private static final long MAX_MILLIS = 300;
    /** The clock moves on by so much when the server reads it. */
    private static final long MILLIS_PER_READING = 5;
    /** The bytes that the test leaves in the pool. A script may use as many beside them. */
    private static final long SCRIPT_BYTES = 1 << 20;
    private static final int MAX_LIBRARIES_BYTES = 1 << 20;

    /** All that scripts find when they begin. */
    private static final String STATE = """
            local seen, out = {}, {}
            local function walk(path, t)
              if seen[t] then return end
              seen[t] = true
              local names = {}
              for k, v in pairs(t) do names[#names + 1] = k end
              table.sort(names)
              for i = 1, #names do
                local k = names[i]
                local v = rawget(t, k)
                if k ~= 'KEYS' and k ~= 'ARGV' then
                  out[#out + 1] = path .. '.' .. k .. '=' .. tostring(v)
                  if type(v) == 'table' then walk(path .. '.' .. k, v) end
                end
              end
              local m = getmetatable(t)
              if m then walk(path .. '!', m) end
            end
            walk('_G', _G)
            walk('string', getmetatable(''))
            for name, f in pairs(cjson) do
              if string.find(name, 'code_') then
                local a, b, c = f()
                out[#out + 1] = table.concat({name, tostring(a), tostring(b), tostring(c)}, ' ')
              end
            end
            out[#out + 1] = cjson.encode({1 / 3})
            out[#out + 1] = redis.pcall('dbsize') .. ' ' .. redis.pcall('incr', 'probe')
            return {table.concat(out, '\\n'), true, #out}
            """;
    private static final String[] SEE_SCRIPTS = {"EVAL", STATE, "1", "probe"};
    private static final String[] SEE_FUNCTIONS = {"FCALL", "probe", "1", "probe"};
    private static final String PROBE = "#!lua name=probe\nredis.register_function('probe', function()\n" + STATE
            + "end)";

    private final ExecutorService thread = Executors.newSingleThreadExecutor(
            task -> new Thread(null, task, "script-sandbox", STACK_BYTES));
    private final Logger scriptLog = (Logger) LoggerFactory.getLogger("io.varve.server.scripts");
    private LeakWatch log = new LeakWatch();
    private @Nullable CommandHarness harness;
    private boolean isResp3;
    private String scriptsState = "";
    private String functionsState = "";

    ScriptSandbox() {
        // What redis.log writes would be most of the output.
        scriptLog.setLevel(Level.OFF);
        open();
    }

    private void open() {
        onThread(() -> {
            harness = new CommandHarness(
                    ServerConfig.defaults().with("maxmemory", "16mb").with("shards", "2")
                            .with("busy-reply-threshold", Long.toString(MAX_MILLIS)),
                    new SettableTicker(MILLIS_PER_READING), this::stop);
            for (boolean isForFunctions : new boolean[] {false, true}) {
                LuaPool pool = scripting().memory(isForFunctions);
                assertThat(pool.take(pool.free() - SCRIPT_BYTES)).isTrue();
            }
            isResp3 = false;
            scriptsState = reply(SEE_SCRIPTS);
            reply("FLUSHALL");
            reply("FUNCTION", "LOAD", PROBE);
            functionsState = reply(SEE_FUNCTIONS);
            reset();
            return null;
        });
        assertThat(scriptsState).contains("_G.cjson.decode=");
        assertThat(functionsState).contains("_G.cjson.decode=");
    }

    private CommandHarness server() {
        return Objects.requireNonNull(harness);
    }

    /** Called while a script takes long. */
    private void stop() {
        RunningScripts running = scripting().running();
        if (running.kill(false) != null && running.kill(true) != null) {
            throw new LuaKilled("it takes long, and has written");
        }
    }

    private Scripting scripting() {
        return server().server().scripting();
    }

    /** Commands that a test tries. */
    interface Body {
        void run(ScriptSandbox sandbox);
    }

    /**
     * Runs commands, and checks that nothing is left of them: the following scripts and functions find what the first
     * ones found.
     */
    void run(boolean resp3, Body body) {
        try {
            onThread(() -> {
                protocol(resp3);
                body.run(this);
                reply("FLUSHALL");
                checkState();
                reset();
                return null;
            });
        } catch (RuntimeException | Error failed) {
            replace(failed);
            throw failed;
        }
    }

    /** The server may hold locks: the next input gets another one. */
    private void replace(Throwable failed) {
        try {
            closeServer();
        } catch (RuntimeException | Error alsoFailed) {
            failed.addSuppressed(alsoFailed);
        }
        log.close();
        log = new LeakWatch();
        open();
    }

    private void closeServer() {
        onThread(() -> {
            server().close();
            return null;
        });
    }

    private void checkState() {
        protocol(false);
        assertThat(log.logged()).as("logged errors").isEmpty();
        assertThat(reply(SEE_SCRIPTS)).as("globals of scripts").isEqualTo(scriptsState);
        if (scripting().libraries().current().functionCount() > 0) {
            reply("FUNCTION", "FLUSH");
            reply("FUNCTION", "LOAD", PROBE);
            reply("FLUSHALL");
            assertThat(reply(SEE_FUNCTIONS)).as("globals of functions").isEqualTo(functionsState);
        }
        assertThat(scripting().running().scriptBytes()).isLessThanOrEqualTo(2 * SCRIPT_BYTES);
        assertThat(scripting().running().functionBytes()).isLessThanOrEqualTo(2 * SCRIPT_BYTES);
        assertThat(server().cache().checkIntegrity()).isEmpty();
    }

    private void reset() {
        reply("FUNCTION", "FLUSH");
        reply("FLUSHALL");
    }

    private void protocol(boolean resp3) {
        if (resp3 != isResp3) {
            isResp3 = resp3;
            reply("HELLO", resp3 ? "3" : "2");
        }
    }

    /** Runs a command, which must be answered by one well-formed reply. Called by a body. */
    String reply(String... arguments) {
        String reply = server().run(arguments);
        StrictReplies.one(reply, isResp3);
        return reply;
    }

    /** As {@link #reply}. */
    RawReply one(String... arguments) {
        return StrictReplies.one(server().run(arguments), isResp3);
    }

    /** As {@link #one}, for a command of which an error is a failure. */
    RawReply done(String... arguments) {
        RawReply reply = one(arguments);
        assertThat(reply.isError()).as(reply.text()).isFalse();
        return reply;
    }

    /** Calls all functions that are loaded. Called by a body. */
    void callFunctions() {
        List<String> names = new ArrayList<>();
        scripting().libraries().current().libraries()
                .forEach(library -> library.functions().forEach(function -> names.add(function.name())));
        for (String name : names) {
            reply("FCALL", name, "1", "key", "value");
            reply("FCALL_RO", name, "0");
        }
        assertThat(scripting().libraries().current().heapBytes()).isLessThan(MAX_LIBRARIES_BYTES);
    }

    private void onThread(Callable<Void> task) {
        try {
            thread.submit(task).get();
        } catch (ExecutionException failed) {
            switch (failed.getCause()) {
                case RuntimeException exception -> throw exception;
                case Error error -> throw error;
                case null, default -> throw new IllegalStateException(failed);
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(interrupted);
        }
    }

    @Override
    public void close() {
        closeServer();
        thread.shutdown();
        log.close();
        scriptLog.setLevel(null);
    }
}
