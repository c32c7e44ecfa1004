package io.varve.lua.syntax;

/** How messages show the name of a chunk, by C Lua's rules. Stateless. */
public final class ChunkName {
    /** The room that C Lua has for names in messages about running code. */
    public static final int RUNTIME_ROOM = 60;
    static final int SYNTAX_ROOM = 80;
    private static final int FILE_MARGIN = 8;
    private static final int STRING_MARGIN = 17;

    private ChunkName() {}

    /** A name that starts with @ or = is shown as it is; another one is source text, of which the first line is. */
    public static String display(String name, int room) {
        if (name.startsWith("=")) {
            return name.substring(1, Math.min(name.length(), room));
        }
        if (name.startsWith("@")) {
            String file = name.substring(1);
            int most = room - FILE_MARGIN;
            return file.length() > most ? "..." + file.substring(file.length() - most) : file;
        }
        int end = 0;
        while (end < name.length() && name.charAt(end) != '\n' && name.charAt(end) != '\r' && name.charAt(end) != 0) {
            end++;
        }
        int shown = Math.min(end, room - STRING_MARGIN);
        boolean all = shown == name.length() || name.charAt(shown) == 0;
        return "[string \"" + name.substring(0, shown) + (all ? "" : "...") + "\"]";
    }
}
