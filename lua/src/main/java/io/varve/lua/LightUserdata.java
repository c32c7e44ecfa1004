package io.varve.lua;

/** A value of type userdata: {@code cjson.null}. Immutable. */
public final class LightUserdata {
    /** The only one. */
    public static final LightUserdata NULL = new LightUserdata();

    private LightUserdata() {}

    /** The text that {@code tostring} shows after the type. */
    @Override
    public String toString() {
        return "(nil)";
    }
}
