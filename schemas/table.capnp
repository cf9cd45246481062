# What the encodings capnp and capnp-packed write: a stream of messages, each of them an Entry (packed or not), so that
#
#   capnp convert binary:json schemas/table.capnp Entry < FILE       (packed:json for capnp-packed)
#
# shows all of a file. In order: start, header, any number of times frame and rows, and a frame of no rows.

@0xd8b7a5e3f1c04962;

struct Entry {
  union {
    start @0 :Void;
    # The first message of a file in frames. Its segment ends with words to which nothing points; they tell that what
    # follows lies as brc wrote it. Whoever writes the messages anew leaves them out.

    header @1 :Header;
    frame @2 :Frame;
    rows @3 :Rows;
  }
}

struct Header {
  version @0 :UInt32;
  # 1.

  checksum @1 :UInt32;
  # CRC-32C of the columns in the form `name:type,name:type`, types being `string`, `int` and `decimal(SCALE)`.

  fields @2 :List(Field);
  # The columns.
}

struct Field {
  name @0 :Text;

  union {
    string @1 :Void;

    decimal @2 :UInt8;
    # Values are integers in units of ten to the power of minus this.
  }
}

# What stands before each message of rows, always in as many bytes. The last one in the file has length 0 and rows 0,
# and its checksum is the number of frames before it, modulo 2^32.
struct Frame {
  mark @0 :UInt64;
  # The bytes "brcframe". None is zero, so that what follows can be packed as it is: in as many bytes whatever it is.

  length @1 :UInt32;
  # The bytes of the next message, as it lies in the file.

  rows @2 :UInt32;
  # Its rows.

  checksum @3 :UInt32;
  # CRC-32C of its bytes.

  own @4 :UInt32;
  # CRC-32C of the twelve bytes of length, rows and checksum, each with its lowest byte first.
}

struct Rows {
  rows @0 :UInt32;
  # How many.

  columns @1 :List(Column);
  # One for each field of the header.
}

struct Column {
  union {
    text :group {
      dictionary @0 :List(Text);
      # The distinct strings of this message. Usually UTF-8, but any bytes are kept as they are.

      union {
        codes @1 :List(UInt16);
        # For each row, where its string stands in the dictionary.

        wideCodes @2 :List(UInt32);
        # The same, for more than 65,536 strings.
      }
    }

    # Numbers, for each row one, as narrow as those of this message allow.
    int8 @3 :List(Int8);
    int16 @4 :List(Int16);
    int32 @5 :List(Int32);
    int64 @6 :List(Int64);
  }
}
